import { defineConfig } from "tsdown";

const common = { clean: false, target: "es2022", fixedExtension: false, minify: true };

const library = {
  ...common,
  // Only Node 20.19 and newer can require() modules.
  format: ["esm" as const, "cjs" as const],
  platform: "neutral" as const,
  // Without comments there are no @__PURE__ marks, so code that another bundler may drop is in functions. In CommonJS
  // the default export is a member of the exports, as the types say.
  outputOptions: { comments: false, exports: "named" as const },
  dts: { oxc: {} as const },
  deps: { neverBundle: [/^node:/, "react", "winston-transport"] },
};

const entries = "audit console edge express hono next pino read tenants viewer viewer-react winston"
  .split(" ");

export default defineConfig([
  // Pages and workers load the smaller file. Servers have signals and processes.
  { ...library, entry: "src/index.ts", define: { LOGLOOM_IS_PAGE: "true" } },
  { ...library, entry: { server: "src/index.ts" } },
  // Each entry is one complete file, so that a page loads only one.
  ...entries.map((name) => ({ ...library, entry: `src/${name}.ts` })),
  // The operations in the format of supabase-js.
  { ...library, entry: { types: "../../types/database.ts" } },
  // The command line includes its libraries, so that an application that only sends installs none of them.
  {
    ...common,
    entry: { cli: "src/cli/bin.ts" },
    format: "esm" as const,
    platform: "node" as const,
    dts: false,
    deps: { alwaysBundle: ["commander", "postgres", "smol-toml", "yaml"] },
  },
]);
