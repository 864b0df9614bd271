import assert from "node:assert/strict";
import { gzipSync } from "node:zlib";
import { consoleBuild } from "../../local/build_console.ts";

const limits = { first: 180_000, editor: 120_000 };

interface Chunk {
  file: string;
  isEntry?: boolean;
  imports?: string[];
  dynamicImports?: string[];
  css?: string[];
}

const manifest = JSON.parse(
  await Deno.readTextFile(`${consoleBuild}/.vite/manifest.json`),
) as Record<string, Chunk>;

async function size(file: string): Promise<number> {
  return gzipSync(await Deno.readFile(`${consoleBuild}/${file}`), { level: 9 }).length;
}

/** A chunk and all that it imports at once. */
function filesOf(name: string, seen = new Set<string>()): Set<string> {
  const chunk = manifest[name];
  if (seen.has(chunk.file)) return seen;
  seen.add(chunk.file);
  for (const file of chunk.css ?? []) seen.add(file);
  for (const inner of chunk.imports ?? []) filesOf(inner, seen);
  return seen;
}

async function sum(files: Iterable<string>): Promise<number> {
  let total = 0;
  for (const file of files) total += await size(file);
  return total;
}

Deno.test("the first load and the editor keep to their sizes", async () => {
  const editor = Object.keys(manifest).find((name) => name.endsWith("query-editor.tsx")) ?? "";
  const first = filesOf("index.html");
  const firstSize = await sum(first) + await size("index.html");
  const after = [...filesOf(editor)].filter((file) => !first.has(file));
  const editorSize = await sum(after);
  console.log(`first load ${firstSize} bytes, editor ${editorSize} bytes, gzipped`);
  assert.ok(firstSize <= limits.first, `first load: ${firstSize} bytes gzipped`);
  assert.ok(editorSize <= limits.editor, `editor: ${editorSize} bytes gzipped`);
});

Deno.test("the portal's page keeps to its size, editor aside", async () => {
  const portal = await sum(filesOf("portal.html")) + await size("portal.html");
  console.log(`portal ${portal} bytes gzipped`);
  assert.ok(portal <= limits.first, `portal: ${portal} bytes gzipped`);
});

Deno.test("no page of the build holds a script or style of its own", async () => {
  for (const name of ["index.html", "portal.html"]) {
    const html = await Deno.readTextFile(`${consoleBuild}/${name}`);
    assert.doesNotMatch(html, /<style|style=|<script(?![^>]*\bsrc=)|\son\w+=/i);
    assert.match(html, /Content-Security-Policy/);
  }
});
