import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { fileURLToPath } from "node:url";

export const docs = join(dirname(dirname(fileURLToPath(import.meta.url))), "docs");

/** Every page, by its path in docs/. */
export const pages = readdirSync(docs, { recursive: true, encoding: "utf8" })
  .map((path) => path.replaceAll("\\", "/"))
  .filter((path) => path.endsWith(".md"))
  .sort();

/** A page's title and its text. */
export function readPage(path) {
  const text = readFileSync(join(docs, path), "utf8");
  return { text, title: /^# (.+)$/m.exec(text)[1].replaceAll("`", "") };
}

/** The sections and pages of docs/README.md; beneath the page of a folder the others that are in it. */
export function sidebar() {
  const index = readPage("README.md").text;
  return index.split(/^## /m).slice(1).map((section) => ({
    text: section.slice(0, section.indexOf("\n")),
    items: [...section.matchAll(/\]\(([^)#]+)\)/g)]
      .map(([, path]) => path)
      .filter((path) => pages.includes(path))
      .map(entry),
  }));
}

function entry(path) {
  const folder = `${posix.dirname(path)}/`;
  const items = pages
    .filter((page) => page !== path && `${posix.dirname(page)}/` === folder)
    .map(item);
  if (!path.endsWith("/README.md") || items.length === 0) return item(path);
  return { ...item(path), collapsed: true, items };
}

function item(path) {
  const link = "/" + path.replace(/README\.md$/, "").replace(/\.md$/, "");
  return { text: readPage(path).title, link, path };
}
