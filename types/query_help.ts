import { checkout } from "../local/stack.ts";
import { format } from "./generate.ts";

// deno run -A types/query_help.ts: writes the module below, the query language for assistants.

export const source = "docs/reference/query-language.md";
export const module = "supabase/functions/logloom-read/mcp/query_language.ts";

/** Sections that an assistant does not need: errors come with their hint. */
const leftOut = new Set(["Grammar", "Query errors"]);

/** The module with the language in a page, without the example events of the docs. */
export async function queryLanguageModule(): Promise<string> {
  const page = queryHelp(await Deno.readTextFile(`${checkout}/${source}`));
  const lines = page.split("\n").map((line) => `  ${JSON.stringify(line)},\n`).join("");
  return await format(
    `// Made by types/query_help.ts from ${source}.\n\n` +
      `/** The query language in a page. */\n` +
      `export const queryLanguage: string = [\n${lines}].join("\\n");\n`,
  );
}

export function queryHelp(markdown: string): string {
  const [intro, ...sections] = markdown.split(/^## /m);
  const kept = sections.filter((section) => !leftOut.has(section.split("\n", 1)[0]));
  return [beginning(intro), ...kept.map((section) => `## ${section}`)]
    .map(shortened).join("\n\n").trim();
}

/** The introduction, without the example events and other languages. */
function beginning(intro: string): string {
  return intro
    .replace(/ \[Coming from[^]*?\.\n/, "\n")
    .replace(/^A test runs every example[^]*?\n\n/m, "")
    .replace(/^```json events\n[^]*?^```\n/m, "");
}

function shortened(section: string): string {
  const lines = section
    .replace(/<!--.*?-->\n*/g, "")
    .replace("`\\|` in a table stands for a bar", "")
    .replace(/\[([^\]]+)\]\([^)]+\)/g, "$1")
    .split("\n");
  const told: string[] = [];
  let columns: string[] | undefined;
  for (const line of lines) {
    if (!line.startsWith("|")) {
      columns = undefined;
      told.push(line);
    } else if (columns === undefined) {
      columns = cellsOf(line);
    } else if (!/^[| -]+$/.test(line)) {
      told.push(`- ${rowOf(columns, cellsOf(line))}`);
    }
  }
  return told.join("\n").replace(/\n{3,}/g, "\n\n").trim();
}

function cellsOf(line: string): string[] {
  return line.split(/(?<!\\)\|/).slice(1, -1).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function rowOf(columns: string[], cells: string[]): string {
  const told = cells.filter((cell, n) =>
    cell !== "" && !["finds", "answers", "position"].includes(columns[n])
  );
  return told.join(columns.includes("suggestion") ? " → " : ": ").replace(/ \(event \d\)/, "");
}

if (import.meta.main) {
  await Deno.writeTextFile(`${checkout}/${module}`, await queryLanguageModule());
}
