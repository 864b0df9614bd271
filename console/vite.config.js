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

export default defineConfig({
  // Relative, so that the page works below any path.
  base: "./",
  plugins: [grammar],
  publicDir: "public",
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
        // Few files in the first load: shared code goes into these two.
        codeSplitting: {
          groups: [
            {
              name: "libraries",
              test: /node_modules[\\/](react|react-dom|scheduler|@tanstack|uplot)[\\/]/,
            },
            {
              name: "page",
              test:
                /[\\/](_shared|read|src[\\/](address|app|saved|search|service|shared))[\\/][^\\/]*\.tsx?$|[\\/](edit-query|match-rank)\.ts$/,
              minShareCount: 2,
            },
          ],
        },
      },
    },
    license: { fileName: "licenses.md" },
  },
});
