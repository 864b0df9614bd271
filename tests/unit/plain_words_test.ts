import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { walk } from "../../local/list_files.ts";

// A longer sentence has to be read twice.
const most = 32;

for (
  const [folder, ending, texts] of [["supabase/schemas", ".sql", ofSql], [
    "docs",
    ".md",
    ofPage,
  ]] as const
) {
  Deno.test(`no sentence in ${folder} has more than ${most} words`, async () => {
    const long: string[] = [];
    for (const path of (await walk([folder])).filter((name) => name.endsWith(ending))) {
      for (const text of texts(await Deno.readTextFile(`${checkout}/${path}`))) {
        const sentences = text.replaceAll(/\s+/g, " ").split(/(?<=[.!?:;]\)?) /);
        long.push(...sentences.filter((one) => words(one) > most).map((one) => `${path}: ${one}`));
      }
    }
    assert.deepEqual(long, []);
  });
}

/** Returns how many words a sentence has. Code, tags and the addresses of links are no words. */
function words(sentence: string): number {
  const plain = sentence.replaceAll(/`[^`]*`|\]\([^)]*\)|<[^>]*>/g, " ");
  return (plain.match(/\p{L}[\p{L}\p{N}_'’-]*/gu) ?? []).length;
}

/** Returns the comments of an SQL file and of its objects. Each line of a list stands alone. */
function ofSql(sql: string): string[] {
  const comments = [...sql.matchAll(/(?:^ *--(?! *$| fields ).*\n)+/gm)].flatMap(([text]) =>
    text.replaceAll(/^ *--/gm, "").split(/\n(?= {2}| - )/)
  );
  const objects = [...sql.matchAll(/^comment on [^']* is\s+((?:'(?:[^']|'')*'\s*)+);/gm)];
  return [...comments, ...objects.map(([, text = ""]) => text.replaceAll(/'\s+'/g, ""))];
}

/** Returns the paragraphs, the items and the cells of a page, without blocks of code. */
function ofPage(page: string): string[] {
  return page.replaceAll(/^ *```[^]*?^ *```$/gm, "")
    .split(/\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )|\n(?=\|)|(?<!\\)\|/);
}
