import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { pages, readPage } from "./pages.js";

/**
 * Writes llms.txt (https://llmstxt.org), the pages by the sections of the menu, and beside it the pages themselves as
 * Markdown.
 */
export function writeForModels(outDir, base, sections) {
  for (const path of pages) {
    const to = join(outDir, path);
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, readPage(path).text);
  }
  const lines = sections.flatMap(({ text, items }) => [
    `## ${text}`,
    "",
    ...items.flatMap((item) => [item, ...item.items ?? []])
      .filter(({ path }) => path !== undefined)
      .map(({ text, path }) => `- [${text}](${base}${path})${about(readPage(path).text)}`),
    "",
  ]);
  writeFileSync(
    join(outDir, "llms.txt"),
    [
      "# Logloom",
      "",
      "> Multi-tenant log ingestion, search and alerting inside a Supabase project.",
      "",
      ...lines,
    ].join("\n"),
  );
}

/** The first sentence of a page that says something. */
function about(text) {
  const plain = text.replaceAll("\n", " ").replace(/\[([^\]]+)\]\([^)]+\)/g, "$1");
  const [sentence] = /(?<= {2})[A-Z][^|#`]{30,200}?\.(?= )/.exec(plain) ?? [];
  return sentence ? `: ${sentence}` : "";
}
