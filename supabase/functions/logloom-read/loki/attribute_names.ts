import type { Ask } from "./call_operation.ts";
import { LogQuery } from "./logql_query.ts";
import { all } from "./matchers.ts";
import {
  fieldsThatMayBe,
  inOrder,
  isInternal,
  membersThatMayBe,
  nameOfField,
  type Names,
  type NamesOf,
  recordField,
  segmentsOf,
} from "./label_names.ts";
import { Refusal, unlessRefused } from "./loki_error.ts";
import { membersIn } from "./line_parsers.ts";
import { type LogRecord, recordsOfPage } from "./loki_streams.ts";
import { quotedRegex, stringOf } from "./string_literals.ts";
import { parametersOfRange, type TimeRange, wholeSeconds } from "./times_and_durations.ts";
import { childOf, needed, type Node, pathOf } from "./syntax_tree.ts";

/**
 * Finds the attributes that label names stand for: the names in each expression of a query, and the names `more`. Only
 * attributes of the selected records count. Calls no operation if there are no names to find.
 */
export async function namesFor(
  tree: Node,
  { start, end }: TimeRange,
  ask: Ask,
  more: readonly string[] = [],
): Promise<NamesOf> {
  const found = new Map<string, Names>();
  const namesOf: NamesOf = (expression) => found.get(selectionOf(expression)) ?? new Map();
  const wanted = new Set([...attributesIn(tree), ...more].filter(isAttribute));
  const isParsed = hasParser(tree);
  const filtered = new Set(isParsed ? filteredIn(tree) : []);
  if (wanted.size === 0 && filtered.size === 0) return namesOf;
  const before = start - BigInt(reachOf(tree)) * 1_000_000_000n;
  const range = parametersOfRange({ start: before > 0n ? before : 0n, end });
  for (const selection of new Set(selectionsIn(tree))) {
    const names = new Map<string, string[]>();
    const add = (field: string) => {
      const name = nameOfField(field);
      names.set(name, inOrder(name, [...names.get(name) ?? [], field]));
    };
    // If lines are parsed, we must know whether such an attribute exists; otherwise we only need its exact path.
    const fields = [...wanted].map(fieldsThatMayBe)
      .filter((fields) => fields.length > 1 || isParsed).flat();
    for (let at = 0; at < fields.length; at += fieldsAtOnce) {
      (await presentOf(fields.slice(at, at + fieldsAtOnce), selection, range, ask)).forEach(add);
    }
    const missing = [...wanted].filter((name) => name.includes("_") && !names.has(name));
    if (missing.length > 0) {
      const others = await fieldsOfNewest(selection, range, ask);
      others.filter((field) => missing.includes(nameOfField(field))).forEach(add);
    }
    const both = new Map<string, { fields: readonly string[]; isInLines: boolean }>();
    for (const [name, fields] of names) {
      const isInLines = isParsed && await areInLines(name, fields, selection, range, ask);
      both.set(name, { fields, isInLines });
    }
    for (const name of isParsed ? unwrappedIn(tree) : []) {
      // Whether lines have the member in another spelling, such as `who.n` for who_n.
      if (both.has(name) || !name.includes("_")) continue;
      const others = all([selection, `-msg:~"${name}"`]);
      if (await areInLines(name, [], others, range, ask)) {
        both.set(name, { fields: membersThatMayBe(name), isInLines: true });
      }
    }
    for (const field of filtered) {
      if (await isMissing(field, selection, range, ask)) {
        both.set(field, { fields: [field], isInLines: true });
      }
    }
    found.set(selection, both);
  }
  return namesOf;
}

/** Returns the part of an expression that does not depend on names of attributes. */
function selectionOf(expression: Node): string {
  return new LogQuery(expression, new Map()).selection;
}

/** Fields in one query: half of the terms that a query may have. */
const fieldsAtOnce = 30;

/** Returns the fields that at least one record has. Each call finds one more; the last call finds none. */
async function presentOf(
  fields: readonly string[],
  selection: string,
  range: Record<string, string>,
  ask: Ask,
): Promise<string[]> {
  const present: string[] = [];
  let left = fields;
  let cursor: string | null = null;
  try {
    while (left.length > 0) {
      const page: { logs: readonly LogRecord[]; next_cursor: string | null } = await ask(
        "search_logs",
        { p_query_dsl: anyOf(left, selection), ...range, p_limit: 1, p_cursor: cursor },
      );
      const [record] = page.logs;
      cursor = record === undefined ? page.next_cursor : null;
      if (record === undefined && cursor === null) break;
      if (record === undefined) continue;
      const had = left.filter((field) => hasField(record.attrs, segmentsOf(field)));
      if (had.length === 0) return [...present, ...await countedOf(left, selection, range, ask)];
      present.push(...had);
      left = left.filter((field) => !had.includes(field));
    }
    return present;
  } catch (error) {
    if (!(error instanceof Refusal) || ![400, 403].includes(error.status)) throw error;
    return [...present, ...await countedOf(left, selection, range, ask)];
  }
}

/** Does the same as `presentOf`, but by counts: for views without search_logs, and readers with hidden fields. */
async function countedOf(
  fields: readonly string[],
  selection: string,
  range: Record<string, string>,
  ask: Ask,
): Promise<string[]> {
  try {
    const [row] = await ask<{ value: number }[]>("log_stats", {
      p_query_dsl: `${anyOf(fields, selection)} | count()`,
      ...range,
    });
    if ((row?.value ?? 0) === 0) return [];
    if (fields.length === 1) return [...fields];
  } catch (error) {
    // A hidden field counts as missing.
    if (!(error instanceof Refusal) || error.status !== 400) throw error;
    if (fields.length === 1) return [];
  }
  const half = fields.length >> 1;
  return [
    ...await countedOf(fields.slice(0, half), selection, range, ask),
    ...await countedOf(fields.slice(half), selection, range, ask),
  ];
}

function anyOf(fields: readonly string[], selection: string): string {
  const terms = fields.map((field) => `${field}:*`);
  return all([selection, terms.length === 1 ? terms[0] : `(${terms.join(" OR ")})`]);
}

/** Whether a value has a field at this path; a key may contain dots. */
function hasField(value: unknown, segments: readonly string[]): boolean {
  if (segments.length === 0) return value !== null && value !== undefined;
  if (typeof value !== "object" || value === null) return false;
  return segments.some((_, n) => {
    const key = segments.slice(0, n + 1).join(".");
    return Object.hasOwn(value, key) &&
      hasField((value as Record<string, unknown>)[key], segments.slice(n + 1));
  });
}

/** Whether some record lacks the field, so that its line must be parsed. */
async function isMissing(
  field: string,
  selection: string,
  range: Record<string, string>,
  ask: Ask,
): Promise<boolean> {
  const parameters = { p_query_dsl: all([selection, `-${field}:*`]), ...range, p_limit: 1 };
  const asked = ask<{ logs: unknown[]; next_cursor: unknown }>("search_logs", parameters)
    .then(({ logs, next_cursor }) => logs.length > 0 || next_cursor !== null);
  // 403: the view has no search_logs. 400: the field is hidden, and the query itself will be refused.
  return await unlessRefused(asked, [400, 403], (status) => status === 403);
}

/** Whether a record without the attributes may have a member of that name in its line. */
async function areInLines(
  name: string,
  fields: readonly string[],
  selection: string,
  range: Record<string, string>,
  ask: Ask,
): Promise<boolean> {
  const parts = name.split("_").filter((part) => part !== "").join("[\\W_](?:.*[\\W_])?");
  const member = `msg:~${quotedRegex(`(?:^|[\\W_])${parts}[\\W_]*[:=]`)}`;
  const lacking = fields.map((field) => `-${field}:*`);
  const asked = ask<{ value: number }[]>("log_stats", {
    p_query_dsl: `${all([selection, ...lacking, member])} | count()`,
    ...range,
  }).then(([row]) => (row?.value ?? 0) > 0);
  // 403: the view has no log_stats. 400: the messages are hidden, and the query itself will be refused.
  return await unlessRefused(asked, [400, 403], () => true);
}

/** The attributes of one page of the newest records, whatever characters are in their names. */
async function fieldsOfNewest(
  selection: string,
  range: Record<string, string>,
  ask: Ask,
): Promise<string[]> {
  const parameters = { p_query_dsl: selection, ...range, p_limit: recordsOfPage };
  const asked = ask<{ logs: readonly LogRecord[] }>("search_logs", parameters);
  // 403: the view has no search_logs. Then only the names that were asked for one by one are known.
  const { logs } = await unlessRefused(asked, [403], () => ({ logs: [] }));
  return [...new Set(logs.flatMap(({ attrs }) => membersIn(attrs).map(([field]) => field)))];
}

function attributesIn(node: Node): string[] {
  if (["Identifier", "LabelName"].includes(node.name)) return [node.text];
  if (node.name === "LabelExtractionExpression") {
    const source = childOf(node, "String");
    const name = needed(node, "Identifier").text;
    return [name, ...source ? [nameOfField(pathOf(stringOf(source.text), "json"))] : []];
  }
  // The third argument of label_replace is also a name.
  const texts = node.name === "LabelReplaceExpr"
    ? node.children.filter(({ name }) => name === "String").map(({ text }) => stringOf(text))
    : [];
  return [...texts.slice(2, 3), ...node.children.flatMap(attributesIn)];
}

function unwrappedIn(node: Node): string[] {
  const name = node.name === "UnwrapExpr" ? childOf(node, "Identifier") : undefined;
  return [...name ? [name.text] : [], ...node.children.flatMap(unwrappedIn)];
}

function filteredIn(node: Node): string[] {
  if (node.name !== "LabelFilter") return node.children.flatMap(filteredIn);
  return attributesIn(node).filter((name) => recordField(name) === name);
}

function hasParser(node: Node): boolean {
  return /Parser$/.test(node.name) || node.children.some(hasParser);
}

function isAttribute(name: string): boolean {
  return recordField(name) === undefined && !isInternal(name);
}

function selectionsIn(node: Node): string[] {
  return ["LogExpr", "LogRangeExpr"].includes(node.name)
    ? [selectionOf(node)]
    : node.children.flatMap(selectionsIn);
}

/** How many seconds before a step a metric reads. */
function reachOf(node: Node): number {
  if (node.name !== "LogRangeExpr") return Math.max(0, ...node.children.map(reachOf));
  const offset = childOf(node, "OffsetExpr");
  return wholeSeconds(needed(needed(node, "Range"), "Duration").text) +
    (offset === undefined ? 0 : wholeSeconds(needed(offset, "Duration").text));
}
