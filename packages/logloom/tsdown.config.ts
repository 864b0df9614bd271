import { defineConfig } from "tsdown";

const common = {
  clean: false,
  format: "esm" as const,
  target: "es2022",
  fixedExtension: false,
  minify: true,
};

export default defineConfig([
  // Each entry is a file that stands alone, so that a page loads one.
  ...["index", "console", "pino", "read", "tenants", "viewer", "viewer-react", "winston"].map((
    name,
  ) => ({
    ...common,
    entry: `src/${name}.ts`,
    platform: "neutral" as const,
    // What may be left out by another bundler lies within functions.
    outputOptions: { comments: false },
    dts: { oxc: {} },
    deps: { neverBundle: [/^node:/, "react", "winston-transport"] },
  })),
  // The command line brings its libraries along: who only sends installs none of them.
  {
    ...common,
    entry: { cli: "src/cli/bin.ts" },
    platform: "node" as const,
    dts: false,
    deps: { alwaysBundle: ["commander", "postgres", "smol-toml"] },
  },
]);
