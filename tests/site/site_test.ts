import assert from "node:assert/strict";
import { cp, mkdir, readFile, symlink, writeFile } from "node:fs/promises";
import { dirname, join, posix } from "node:path";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";
import { tempFolder } from "../support/temp_folder.ts";

async function build(root: string, out: string, ...options: string[]) {
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: ["site/build.js", "--out", out, ...options],
    cwd: root,
  }).output();
  const decoder = new TextDecoder();
  return { code, said: decoder.decode(stdout) + decoder.decode(stderr) };
}

Deno.test("the site has every page of docs/, and every link leads to an existing page", async () => {
  await using temp = await tempFolder();
  const out = temp.path;
  const { code, said } = await build(checkout, out, "--base", "/logs/");
  assert.equal(code, 0, said);
  const pages = (await walk(["docs"])).filter((path) => path.endsWith(".md"))
    .map((path) => path.slice("docs/".length));
  const texts = new Map<string, string>();
  for (const page of pages) {
    const built = page.replace(/README\.md$/, "index.md").replace(/\.md$/, ".html");
    texts.set(built, await readFile(join(out, built), "utf8"));
    assert.equal(
      await readFile(join(out, page), "utf8"),
      await readFile(join(checkout, "docs", page), "utf8"),
    );
  }
  const llms = await readFile(join(out, "llms.txt"), "utf8");
  const listed = [...llms.matchAll(/^- \[.+?\]\(\/logs\/([^)]+)\)/gm)].map(([, path]) => path);
  assert.deepEqual(listed.sort(), pages.filter((page) => page !== "README.md").sort());
  const broken: string[] = [];
  for (const [page, text] of texts) {
    const content = text.slice(text.indexOf("<main"), text.indexOf("</main>"));
    for (const [, href] of content.matchAll(/<a [^>]*?href="([^"]+)"/g)) {
      if (/^https?:/.test(href)) continue;
      const [path, anchor] = decodeURI(href).split("#");
      const to = path === ""
        ? page
        : path.startsWith("/")
        ? path.replace(/^\/logs\//, "")
        : posix.join(dirname(page), path);
      const target = texts.get(to === "" || to.endsWith("/") ? `${to}index.html` : to);
      const isThere = target !== undefined &&
        (anchor === undefined || target.includes(` id="${anchor}"`));
      if (!isThere) broken.push(`${page}: ${href}`);
    }
  }
  assert.deepEqual(broken, []);
});

Deno.test("a link to a missing file fails the build and is named with its page", async () => {
  await using temp = await tempFolder();
  const root = temp.path;
  await cp(join(checkout, "site"), join(root, "site"), {
    recursive: true,
    filter: (path) => !/\/site\/(node_modules|dist|\.pages)/.test(path),
  });
  await symlink(join(checkout, "site/node_modules"), join(root, "site/node_modules"));
  await cp(join(checkout, "local/npm.mjs"), join(root, "local/npm.mjs"));
  await mkdir(join(root, "docs"));
  await writeFile(join(root, "docs/README.md"), "# Docs\n\n## Start\n\n- [A](a.md)\n");
  await writeFile(join(root, "docs/a.md"), "# A\n\n[Lost](guides/lost.md)\n");
  const { code, said } = await build(root, join(root, "out"));
  assert.equal(code, 1);
  assert.match(said, /docs\/a\.md: there is no docs\/guides\/lost\.md/);
});
