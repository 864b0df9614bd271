import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";

/** Commands and imports that take the package from npm. */
const fromNpm =
  /\b(?:npx|bunx|(?:npm|pnpm|yarn|bun|deno) (?:i|install|add|exec|dlx))(?: -\S+)* (?:npm:)?logloom(?![\w/.-])|npm:(?:logloom)\b/;

const folders = [
  ".github",
  "bench",
  "citus",
  "cli",
  "console/src",
  "docs",
  "examples",
  "local",
  "packages/logloom",
  "supabase/functions",
  "supabase/schemas",
  "tests",
];
const pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"];

Deno.test("no document installs the package from npm before it is published", async () => {
  assert.ok(fromNpm.test(["npx", "--yes", "logloom", "tail"].join(" ")));
  assert.ok(fromNpm.test(["npm", "install", "logloom"].join(" ")));
  assert.ok(!fromNpm.test("npm install ../logloom/.logloom/logloom-1.0.0.tgz"));

  // package.json says whether it is published.
  const manifest = JSON.parse(await read("packages/logloom/package.json"));
  if (manifest.private !== true) return;
  const wrong: string[] = [];
  for (const path of [...pages, ...await walk(folders)]) {
    if (/\.(?:md|ts|tsx|mjs|js|json|sql|html|yml)$/.test(path) && fromNpm.test(await read(path))) {
      wrong.push(path);
    }
  }
  assert.deepEqual(wrong, []);
});

Deno.test("the packed command line and a clone use the same version of commander", async () => {
  const versions = await Promise.all(
    ["package.json", "packages/package.json"].map(async (path) =>
      JSON.parse(await read(path)).devDependencies.commander
    ),
  );
  assert.equal(versions[0], versions[1]);
});

const read = (path: string) => Deno.readTextFile(`${checkout}/${path}`);
