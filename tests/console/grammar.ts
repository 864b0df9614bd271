import { buildParser } from "../../console/node_modules/@lezer/generator/dist/index.js";
import { accepts } from "../../console/src/language/accepts-query.ts";
import { highlighting } from "../../console/src/language/highlighting.ts";
import { wordTokenizer } from "../../console/src/language/tokenizer.ts";

const grammar = new URL("../../console/src/language/logloom.grammar", import.meta.url);

/** The editor's parser, built as in the console's build. */
const parser = buildParser(await Deno.readTextFile(grammar), {
  externalTokenizer: (_name: string, terms: Record<string, number>) => wordTokenizer(terms),
  externalPropSource: () => highlighting,
});

export function editorAccepts(query: string): boolean {
  return accepts(parser, query);
}
