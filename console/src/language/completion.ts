import { say, type Words } from "../shared/translate.ts";
import {
  type Completion,
  type CompletionContext,
  type CompletionResult,
  insertCompletionText,
  pickedCompletion,
  startCompletion,
} from "@codemirror/autocomplete";
import { syntaxTree } from "@codemirror/language";
import type { EditorView } from "@codemirror/view";
import { fieldKinds, remarks } from "../../../supabase/functions/_shared/record_fields.ts";
import type { Field } from "../service/logloom.ts";
import { count as number } from "../shared/format-number.ts";
import { quoted } from "./edit-query.ts";
import { rankOf } from "./match-rank.ts";

export interface Saved {
  name: string;
  query_dsl: string;
}

export interface Known {
  fields: Field[];
  saved: Saved[];
  /** The fields of all records whose name contains this, whatever the query. */
  askFields: (name: string) => Promise<Field[]>;
}

const columns = Object.keys(fieldKinds).filter((name) => name !== "attrs");
const remarkOn = (name: string) =>
  name in remarks ? say(remarks[name as keyof typeof remarks]) : undefined;

const aggregates: [string, Words][] = [
  ["count()", "how many"],
  ["count() if ()", "how many that pass a filter"],
  ["rate()", "how many a minute"],
  ["count_distinct()", "different values of a field"],
  ["sum()", "of an attribute's numbers"],
  ["avg()", "mean"],
  ["min()", "smallest"],
  ["max()", "largest"],
  ["p50()", "median"],
  ["p90()", "90th percentile"],
  ["p95()", "95th percentile"],
  ["p99()", "99th percentile"],
];

const stages: [string, Words][] = [
  ["patterns", "groups similar messages"],
  ["where ", "filters the rows before it"],
  ["sort by ", "sorts the rows"],
  ["extract ", "takes parts out of a text"],
  ["extract_regexp ", "takes out what an expression names"],
  ["math ", "computes with the results"],
  ["limit ", "at most this many"],
  ["json ", "parses JSON in a text"],
  ["logfmt ", "parses key=value in a text"],
];

const levels = ["error", "warn", "info", "debug", ">=warn", ">=info"];

/** The completions at the cursor, best match first. */
export function complete(known: () => Known) {
  return async (context: CompletionContext): Promise<CompletionResult | null> => {
    const line = context.state.sliceDoc(0, context.pos);
    const inQuotes = syntaxTree(context.state).resolveInner(context.pos, -1).name === "Regex";
    if (inQuotes) return null;
    const bar = lastBar(line);
    const result = bar >= 0
      ? afterBar(context, line.slice(bar + 1), known())
      : await inFilter(context, known());
    if (result === null || result.filter === false) return result;
    const typed = context.state.sliceDoc(result.from, context.pos);
    return { from: result.from, filter: false, options: ranked(result.options, typed) };
  };
}

function ranked(options: readonly Completion[], typed: string): Completion[] {
  return options.flatMap((option, at) => {
    const rank = rankOf(option.label, typed);
    return rank === null ? [] : [{ option, rank, at }];
  })
    .sort((a, b) => a.rank - b.rank || (b.option.boost ?? 0) - (a.option.boost ?? 0) || a.at - b.at)
    .map(({ option }) => option);
}

function lastBar(line: string): number {
  let at = -1;
  let isQuoted = false;
  for (let i = 0; i < line.length; i++) {
    if (line[i] === "\\") i += 1;
    else if (line[i] === '"') isQuoted = !isQuoted;
    else if (line[i] === "|" && !isQuoted) at = i;
  }
  return at;
}

function inFilter(
  context: CompletionContext,
  known: Known,
): CompletionResult | null | Promise<CompletionResult | null> {
  const saved = context.matchBefore(/(^|\s)#[^\s]*$/);
  if (saved) {
    const at = saved.text.indexOf("#");
    return {
      from: saved.from + at,
      filter: false,
      options: known.saved
        .filter(({ name }) => name.toLowerCase().includes(saved.text.slice(at + 1).toLowerCase()))
        .map(({ name, query_dsl }) => ({ label: `#${name}`, apply: query_dsl, detail: query_dsl })),
    };
  }
  const value = context.matchBefore(
    /(?:^|[\s(-])((?:[a-z_]+|(?:attrs|@)(?:\.?[\p{L}\p{N}_-]+|\."[^"]*")+)):[^\s:"()]*$/u,
  );
  if (value) return valueOptions(value.text, value.from, known);
  const word = context.matchBefore(/[\p{L}\p{N}_.]*$/u);
  if (!word || (word.text === "" && !context.explicit)) return null;
  return { from: word.from, options: fieldOptions(known, takeField) };
}

/** The values of the result first, then those of other records: the query may have excluded what is wanted. */
async function valueOptions(
  text: string,
  from: number,
  known: Known,
): Promise<CompletionResult | null> {
  const colon = text.indexOf(":");
  const name = text.slice(0, colon).replace(/^[\s(-]+/, "");
  const at = from + colon + 1;
  if (name === "level") {
    return { from: at, options: levels.map((label) => ({ label, type: "level" })) };
  }
  const isIt = (one: Field) => one.field === name;
  const others = (await known.askFields(name).catch(() => [])).find(isIt);
  const field = known.fields.find(isIt) ?? others;
  const counts = new Map(field?.values.map(({ value, count }) => [value, number(count)]));
  for (const { value } of others?.values ?? []) if (!counts.has(value)) counts.set(value, "");
  const options: Completion[] = [...counts].map(([value, detail], i) => ({
    label: value.slice(0, 120),
    apply: quoted(value),
    detail,
    boost: -i,
    type: "value",
  }));
  options.push({ label: "*", detail: say("has a value"), boost: -90, type: "value" });
  if (field?.type === "number") {
    options.push({ label: ">=", detail: say("at least"), boost: -80, type: "value" });
  }
  return { from: at, options };
}

/** Inserts the field with a colon and offers its values at once. */
function takeField(editor: EditorView, entry: Completion, from: number, to: number): void {
  editor.dispatch({
    ...insertCompletionText(editor.state, `${entry.label}:`, from, to),
    annotations: pickedCompletion.of(entry),
  });
  startCompletion(editor);
}

function fieldOptions(known: Known, apply?: Completion["apply"]): Completion[] {
  const options = [...columns, "any"].map((label): Completion => ({
    label,
    detail: label === "any" ? say("anywhere in the record") : remarkOn(label),
    apply,
    type: "field",
    boost: 2,
  }));
  for (const { field, type } of known.fields) {
    if (!field.startsWith("attrs.")) continue;
    options.push({ label: field, detail: type, apply, type: "field" });
  }
  return options;
}

function afterBar(context: CompletionContext, rest: string, known: Known): CompletionResult | null {
  const word = context.matchBefore(/[\p{L}\p{N}_."-]*$/u);
  const from = word?.from ?? context.pos;
  if (/\(\s*[^()]*$/.test(rest) || /\bby\s+[^|]*$/.test(rest)) {
    return { from, options: fieldOptions(known) };
  }
  if (/\)\s+[a-z]*$/.test(rest)) {
    return { from, options: [{ label: "by", apply: "by ", detail: say("a row for each group") }] };
  }
  return {
    from,
    options: [
      ...aggregates.map(([label, words]) => ({ label, detail: say(words), type: "function" })),
      ...stages.map(([label, words]) => ({
        label,
        detail: say(words),
        type: "keyword",
        boost: -10,
      })),
    ],
  };
}
