import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { longSteps, steps } from "../steps.ts";

Deno.test("docs/local-stack.md lists every step of the tests, in their order", async () => {
  const page = await Deno.readTextFile(`${checkout}/docs/local-stack.md`);
  const section = page.slice(page.indexOf("## Test\n"), page.indexOf("## What it needs\n"));
  const listed = [...section.matchAll(/^\| `([\w-]+)` +\|/gm)].map(([, name]) => name);
  assert.deepEqual(listed, [...steps, ...longSteps].map(({ name }) => name));
});

Deno.test("every file that a page names is there", async () => {
  const pages = ["README.md", "CONTRIBUTING.md", "docs/architecture.md", "docs/local-stack.md"];
  for (const name of pages) {
    const page = await Deno.readTextFile(`${checkout}/${name}`);
    const named = page.matchAll(
      /`((?:supabase|console|cli|local|tests|bench|types|docs)\/[\w./-]+)`/g,
    );
    for (const [, path] of named) await Deno.stat(`${checkout}/${path}`);
    const folder = name.includes("/") ? `${checkout}/docs` : checkout;
    for (const [, path] of page.matchAll(/\]\(((?!https?:|#)[^)#]+)(?:#[^)]*)?\)/g)) {
      await Deno.stat(`${folder}/${path}`);
    }
  }
});
