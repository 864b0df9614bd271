import { defineConfig } from "tsdown";

const common = { clean: false, target: "es2022", fixedExtension: false, minify: true };

const library = {
  ...common,
  // A require() of modules is Node 20.19's and newer.
  format: ["esm" as const, "cjs" as const],
  platform: "neutral" as const,
  // What may be left out by another bundler lies within functions.
  // A default export is a member in CommonJS as well, as its types say.
  outputOptions: { comments: false, exports: "named" as const },
  dts: { oxc: {} as const },
  deps: { neverBundle: [/^node:/, "react", "winston-transport"] },
};

export default defineConfig([
  // Pages and workers load the smaller one, servers have signals and processes.
  { ...library, entry: "src/index.ts", define: { LOGLOOM_IS_PAGE: "true" } },
  { ...library, entry: { server: "src/index.ts" } },
  // Each entry is a file that stands alone, so that a page loads one.
  ...["console", "pino", "read", "tenants", "viewer", "viewer-react", "winston"].map((name) => ({
    ...library,
    entry: `src/${name}.ts`,
  })),
  // The operations as supabase-js types them.
  { ...library, entry: { types: "../../types/database.ts" } },
  // The command line brings its libraries along: who only sends installs none of them.
  {
    ...common,
    entry: { cli: "src/cli/bin.ts" },
    format: "esm" as const,
    platform: "node" as const,
    dts: false,
    deps: { alwaysBundle: ["commander", "postgres", "smol-toml"] },
  },
]);
