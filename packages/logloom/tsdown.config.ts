import { defineConfig } from "tsdown";

// Each entry is a file that stands alone, so that a page loads one.
export default defineConfig(
  ["index", "console", "pino", "read", "tenants", "winston"].map((name) => ({
    entry: `src/${name}.ts`,
    clean: false,
    format: "esm" as const,
    platform: "neutral" as const,
    target: "es2022",
    fixedExtension: false,
    minify: true,
    dts: { oxc: {} },
    deps: { neverBundle: [/^node:/, "winston-transport"] },
  })),
);
