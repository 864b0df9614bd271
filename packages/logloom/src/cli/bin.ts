#!/usr/bin/env node
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { main } from "./main.ts";
import { leave } from "./output.ts";

const manifest = new URL("../package.json", import.meta.url);
const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };

await leave(
  await main(process.argv.slice(2), {
    version,
    call: (command) => `logloom ${command}`.trimEnd(),
    supabase: fileURLToPath(new URL("supabase", import.meta.url)),
    consoleFolder: () => Promise.resolve(fileURLToPath(new URL("console", import.meta.url))),
    path: (path) => path,
  }),
);
