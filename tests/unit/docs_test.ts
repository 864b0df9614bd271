import assert from "node:assert/strict";
import { releasedMigrations } from "../../local/migrations/released.ts";
import { exists } from "../../local/files.ts";
import { checkout } from "../../local/stack.ts";
import { longSteps, steps } from "../runner/steps.ts";
import { walk } from "../../local/list_files.ts";

Deno.test("docs/guides/local-stack.md lists every step of the tests, in their order", async () => {
  const page = await Deno.readTextFile(`${checkout}/docs/guides/local-stack.md`);
  const section = between(page, "## Test\n", "## Requirements\n");
  const listed = [...section.matchAll(/^\| `([\w-]+)` +\|/gm)].map(([, name]) => name);
  assert.deepEqual(listed, [...steps, ...longSteps].map(({ name }) => name));
});

Deno.test("the workflow runs the commands of .ci/run", async () => {
  const commands = async (path: string, command: RegExp) =>
    [...(await Deno.readTextFile(`${checkout}/${path}`)).matchAll(command)].map(([, name]) => name);
  const wanted = await commands(".ci/run", /^(npm .+)$/gm);
  assert.deepEqual(wanted, ["npm test", "npm test -- turn"]);
  const ofWorkflow = await commands(".github/workflows/test.yml", /^ +- (npm .+)$/gm);
  assert.deepEqual(ofWorkflow, wanted);
});

Deno.test("the pages list all jobs and name the newest released migration", async () => {
  const read = (path: string) => Deno.readTextFile(`${checkout}/${path}`);
  const scheduled = await read("supabase/schemas/schedules/schedule_jobs.sql");
  const jobs = [...scheduled.matchAll(/^ +\('(\w+)', '(write|send|tend)', /gm)];
  const operations = await read("docs/guides/operations.md");
  const rows = [...operations.matchAll(/^\| `(\w+)` +\| (write|send|tend) +\|/gm)];
  const named = (matches: RegExpExecArray[]) =>
    matches.map(([, job, lane]) => `${job} ${lane}`).sort();
  assert.deepEqual(named(rows), named(jobs));
  const migrations = [...(await releasedMigrations()).keys()];
  const [newest] = /logloom_\w+/.exec(migrations.at(-1) ?? "") ?? [];
  const page = await read("docs/reference/command-line.md");
  assert.ok(page.includes(`all ${jobs.length} scheduled, and in time`));
  assert.ok(page.includes(`all ${migrations.length}, up to ${newest}`), newest);
});

Deno.test("every file that a page names exists", async () => {
  const pages = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/background/architecture.md",
    "docs/guides/local-stack.md",
  ];
  for (const name of pages) {
    const page = await Deno.readTextFile(`${checkout}/${name}`);
    const named = page.matchAll(
      /`((?:supabase|console|cli|local|tests|bench|types|docs)\/[\w./-]+)`/g,
    );
    for (const [, path] of named) await Deno.stat(`${checkout}/${path}`);
  }
});

Deno.test("docs/background/architecture.md names existing files, by itself or in the folder of the file before", async () => {
  const page = await Deno.readTextFile(`${checkout}/docs/background/architecture.md`);
  const files = await walk(
    "supabase console packages/logloom/src cli tests types docs local citus bench".split(" "),
  );
  const missing: string[] = [];
  let [root, folder] = ["", ""];
  for (const line of page.split("\n").filter((line) => line.startsWith("|"))) {
    if (/^\| (decision|file) /.test(line)) root = / file in `([\w\/-]+)` /.exec(line)?.[1] ?? "";
    // A row names files in its second cell, or lists files in its first.
    const [, first, second] = line.split("|");
    const cell = /^ (`[\w.\/-]+`[, ]*)+$/.test(first) ? first : second;
    for (
      const [, name] of cell.matchAll(/`([\w.-]+(?:\/[\w.-]+)*\.(?:sql|tsx?|css|md|grammar))`/g)
    ) {
      const whole = [name, `${root}/${name}`].find((path) => files.includes(path));
      if (whole !== undefined) folder = whole.split("/").slice(0, -1).slice(0, 3).join("/");
      else if (!files.some((path) => path.startsWith(`${folder}/`) && path.endsWith(`/${name}`))) {
        missing.push(name);
      }
    }
  }
  assert.deepEqual(missing, []);
});

Deno.test("docs/reference/settings.md names every setting, with its default", async () => {
  const sql = await read("supabase/schemas/foundations/tables/settings.sql");
  const defaults = [
    ...sql.matchAll(
      /^ {2}(?!singleton)(\w+) [a-z\[\] ]+?(?: not null)?(?: default '?(.*?)'?)?,$/gm,
    ),
  ].map(([, name, value]) => [name, value === "{}" ? "" : value ?? ""]);
  const page = await read("docs/reference/settings.md");
  const rows = between(page, "## Connections ").matchAll(/^\| `(\w+)` *\| *(.*?) *\|/gm);
  const said = [...rows].map(([, name, value]) => [name, value]);
  assert.deepEqual(said.sort(), defaults.sort());
});

Deno.test("every link within the documents leads to a file, and to a heading of it", async () => {
  const top = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"];
  const pages = [...top, ...(await walk(["docs"])).filter((path) => path.endsWith(".md"))];
  const broken: string[] = [];
  for (const page of pages) {
    for (const [, link] of (await read(page)).matchAll(/\]\(((?!https?:)[^)\s]+)\)/g)) {
      const url = new URL(link, `file:///${page}`);
      const target = url.pathname.slice(1);
      const known = await exists(`${checkout}/${target}`);
      const heading = url.hash.slice(1);
      if (!known || heading && !headings(await read(target)).includes(heading)) {
        broken.push(`${page}: ${link}`);
      }
    }
  }
  assert.deepEqual(broken, []);
});

const read = (path: string) => Deno.readTextFile(`${checkout}/${path}`);

/** Returns the text of a page from one heading to another. */
function between(page: string, first: string, last?: string): string {
  const from = page.indexOf(`\n${first}`);
  const to = last === undefined ? page.length : page.indexOf(`\n${last}`, from);
  assert.ok(from >= 0 && to >= 0, `the page lacks the heading ${from < 0 ? first : last}`);
  return page.slice(from, to);
}

/** Returns the anchors of a page's headings, as GitHub makes them. */
function headings(page: string): string[] {
  return [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
  );
}
