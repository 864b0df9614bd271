import { buildParserFile } from "@lezer/generator";
import { readFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import process from "node:process";
import { defineConfig } from "vite";

/** Imports a `.grammar` file as its parser, and `.grammar.terms` as the numbers of its tokens. */
const grammar = {
  name: "lezer-grammar",
  resolveId(id, importer) {
    return id.endsWith(".grammar.terms") ? resolve(dirname(importer), id) : null;
  },
  load(id) {
    if (!/\.grammar(\.terms)?$/.test(id)) return null;
    const file = id.replace(/\.terms$/, "");
    const { parser, terms } = buildParserFile(readFileSync(file, "utf8"), { fileName: file });
    return { code: id === file ? parser : terms, moduleType: "js" };
  },
};

/** Copies the bundler's helpers (700 bytes) into each file that uses them: their own file would be one more request. */
const helpersInEachFile = {
  name: "helpers-in-each-file",
  generateBundle(_options, bundle) {
    const helpers = Object.values(bundle).find(({ name }) => name === "rolldown-runtime");
    const made = helpers.code.trim().replace(
      /export\{(.*)\};$/,
      (_, names) => `return{${names.replaceAll(/(\w+) as (\w+)/g, "$2:$1")}}`,
    );
    for (const chunk of Object.values(bundle)) {
      if (!chunk.imports?.includes(helpers.fileName)) continue;
      chunk.code = chunk.code.replace(
        /import\{([^}]*)\}from"\.\/rolldown-runtime-[^"]*";/,
        (_, names) => `const{${names.replaceAll(" as ", ":")}}=(()=>{${made}})();`,
      );
      chunk.imports = chunk.imports.filter((file) => file !== helpers.fileName);
    }
    delete bundle[helpers.fileName];
  },
};

export default defineConfig({
  // Relative, so that the page works below any path.
  base: "./",
  plugins: [grammar, helpersInEachFile],
  publicDir: false,
  build: {
    outDir: process.env.LOGLOOM_CONSOLE_OUT ?? "dist",
    emptyOutDir: true,
    target: "es2022",
    modulePreload: { polyfill: false },
    // The page's policy does not allow data: URLs in styles.
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    manifest: true,
    rollupOptions: {
      input: ["index.html", "portal.html"],
      output: {
        // Few files in the first load: shared code goes into this one.
        codeSplitting: {
          groups: [
            {
              name: "page",
              test:
                /node_modules[\\/](react|react-dom|scheduler|@tanstack|uplot)[\\/]|[\\/](_shared|read|src[\\/](address|app|saved|search|service|shared|styles))[\\/][^\\/]*\.(tsx?|css)$|[\\/](edit-query|match-rank)\.ts$/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
    license: { fileName: "licenses.md" },
  },
});
