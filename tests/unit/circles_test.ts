import assert from "node:assert/strict";
import { dirname, join } from "node:path/posix";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";

/** Our files that each file imports, by path. */
type Imports = Map<string, string[]>;

Deno.test("there are no circular imports", async () => {
  const folders = [
    "bench",
    "citus",
    "cli",
    "console/src",
    "local",
    "packages/logloom/src",
    "supabase/functions",
    "tests",
    "types",
  ];
  const files = (await walk(folders)).filter((path) => /\.tsx?$/.test(path));
  const imports: Imports = new Map();
  for (const path of files) {
    imports.set(path, importsIn(path, await Deno.readTextFile(`${checkout}/${path}`)));
  }
  assert.ok(imports.get("tests/run.ts")?.includes("local/exit_on_failure.ts"));
  assert.deepEqual(circles(imports), []);
});

Deno.test("circular imports of all forms are found", () => {
  const imports: Imports = new Map([
    ["a/a.ts", importsIn("a/a.ts", 'import { b } from "./b.ts";\nimport { d } from "d";')],
    ["a/b.ts", importsIn("a/b.ts", 'export type { C } from "../c.ts";')],
    ["c.ts", importsIn("c.ts", 'const { a } = await import("./a/a.ts");')],
    ["d.ts", importsIn("d.ts", 'import "./a/a.ts";\nimport { e } from "./e.ts";')],
    ["e.ts", importsIn("e.ts", 'import {\n  type D,\n} from "./d.ts";')],
    ["f.ts", importsIn("f.ts", 'import { e } from "./e.ts";')],
  ]);
  assert.deepEqual(circles(imports), ["a/a.ts, a/b.ts, c.ts", "d.ts, e.ts"]);
});

function importsIn(path: string, text: string): string[] {
  const named = text.matchAll(/^.*?(?:\bfrom|\bimport)\s*\(?\s*"(\.{1,2}\/[^"]+)"/gm);
  return [...named].map(([, name]) => join(dirname(path), name));
}

/** Returns the files of each circular import. */
function circles(imports: Imports): string[] {
  const reached = (from: string) => {
    const found = new Set<string>();
    const add = (path: string) => {
      for (const next of imports.get(path) ?? []) {
        if (found.has(next)) continue;
        found.add(next);
        add(next);
      }
    };
    add(from);
    return found;
  };
  const all = new Map([...imports.keys()].map((path) => [path, reached(path)]));
  const inCircles = [...all].filter(([path, found]) => found.has(path));
  return [
    ...new Set(
      inCircles.map(([path, found]) =>
        [...found].filter((other) => all.get(other)?.has(path)).sort().join(", ")
      ),
    ),
  ].sort();
}
