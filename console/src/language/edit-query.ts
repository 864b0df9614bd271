/** Edits a query after a click: changes one part and leaves the rest of the text as it is. */

/** Splits at the first unquoted bar. `rest` begins with the bar. */
export function splitQuery(query: string): { filter: string; rest: string } {
  const at = outside(query, (character) => character === "|")[0];
  if (at === undefined) return { filter: query, rest: "" };
  return { filter: query.slice(0, at), rest: query.slice(at) };
}

/** Stages that return records. Every other stage returns rows of numbers. */
const ofRecords = /^(where|json|logfmt|extract|extract_regexp|sort|limit|fields)\b/;

/** Whether the query asks for numbers instead of records. */
export function aggregates(query: string): boolean {
  return stagesOf(query).some((stage) => stage !== "" && !ofRecords.test(stage));
}

/** The text after each bar. */
function stagesOf(query: string): string[] {
  const bars = outside(query, (character) => character === "|");
  return bars.map((at, i) => query.slice(at + 1, bars[i + 1]).trim());
}

/** The query to draw over time: the filter and the first aggregate, without sorting and limits. */
export function seriesOf(query: string): string | null {
  const stages = stagesOf(query);
  const at = stages.findIndex((stage) => stage !== "" && !ofRecords.test(stage));
  const aggregate = stages[at];
  if (aggregate === undefined || /^patterns\b/.test(aggregate)) return null;
  return `${filterOf(query)} | ${aggregate}`;
}

/** The filter and the filtering stages: the records that a chart or the list of fields counts. */
export function filterOf(query: string): string {
  const kept: string[] = [];
  for (const stage of stagesOf(query)) {
    if (!/^(where|json|logfmt|extract|extract_regexp)\b/.test(stage)) break;
    kept.push(stage);
  }
  return [splitQuery(query).filter.trim(), ...kept].join(" | ");
}

/** The positions of matching characters that are neither quoted nor escaped. */
function outside(query: string, isWanted: (character: string) => boolean): number[] {
  const places: number[] = [];
  let quoted = false;
  for (let i = 0; i < query.length; i++) {
    const character = query[i] ?? "";
    if (character === "\\") i += 1;
    else if (character === '"') quoted = !quoted;
    else if (!quoted && isWanted(character)) places.push(i);
  }
  return places;
}

/** A value as written in a query: quoted if necessary. */
export function quoted(value: string): string {
  if (
    /^[\p{L}\p{N}_./@%#-]+$/u.test(value) &&
    !/^(AND|OR|NOT|TO|now.*)$/.test(value)
  ) {
    return value;
  }
  return `"${value.replace(/[\\"]/g, "\\$&")}"`;
}

/** A condition for exactly this text. */
export function exactly(field: string, value: string): string {
  return `${field}:="${value.replace(/[\\"]/g, "\\$&")}"`;
}

/** A path into attrs as written in a query. */
export function attributeField(path: string[]): string {
  return ["attrs", ...path].map((segment) =>
    /^[\p{L}\p{N}_-]+$/u.test(segment) ? segment : `"${segment.replace(/[\\"]/g, "\\$&")}"`
  ).join(".");
}

export type Mode = "in" | "out" | "least" | "lacks";

export function clause(field: string, value: string, mode: Mode): string {
  if (mode === "lacks") return `-${field}:*`;
  if (mode === "least") {
    return `${field}:>=${field.startsWith("attrs.") ? value : quoted(value)}`;
  }
  return `${mode === "out" ? "-" : ""}${field}:${quoted(value)}`;
}

/** The query with one more condition. It replaces the opposite condition. */
export function withClause(query: string, field: string, value: string, mode: Mode): string {
  const wanted = clause(field, value, mode);
  const opposite = mode === "in"
    ? clause(field, value, "out")
    : mode === "out"
    ? clause(field, value, "in")
    : null;
  const { filter, rest } = splitQuery(query);
  const terms = topTerms(filter);
  const has = (text: string) => terms.some((term) => term.text === text);
  if (!hasTopOr(terms)) {
    if (has(wanted)) return query;
    const rival = opposite === null ? undefined : terms.find((term) => term.text === opposite);
    if (rival) {
      return `${filter.slice(0, rival.at)}${wanted}${
        filter.slice(rival.at + rival.text.length)
      }${rest}`;
    }
  }
  const trimmed = filter.trim();
  const before = trimmed === "" ? "" : hasTopOr(terms) ? `(${trimmed}) ` : `${trimmed} `;
  return `${before}${wanted}${rest === "" ? "" : ` ${rest.trim()}`}`;
}

/** Whether a condition of the query requires exactly this value. */
export function hasClause(query: string, field: string, value: string): boolean {
  return placeOf(topTerms(splitQuery(query).filter), clause(field, value, "in")) >= 0;
}

/** The query without this condition and its AND. */
export function withoutClause(query: string, field: string, value: string): string {
  const { filter, rest } = splitQuery(query);
  const terms = topTerms(filter).map(({ text }) => text);
  const at = placeOf(topTerms(filter), clause(field, value, "in"));
  if (at < 0) return query;
  const from = terms[at - 1] === "AND" ? at - 1 : at;
  const to = from === at && terms[at + 1] === "AND" ? at + 1 : at;
  terms.splice(from, to - from + 1);
  return [...terms, rest.trim()].filter(Boolean).join(" ");
}

function placeOf(terms: Term[], wanted: string): number {
  if (hasTopOr(terms)) return -1;
  return terms.findIndex(({ text }, i) => text === wanted && terms[i - 1]?.text !== "NOT");
}

/** The query with this as the only condition on the field. */
export function withOnly(query: string, field: string, value: string): string {
  const { filter, rest } = splitQuery(query);
  const terms = topTerms(filter);
  if (hasTopOr(terms)) return withClause(query, field, value, "in");
  const kept = terms.filter(({ text }) => !new RegExp(`^-?${field}:`).test(text));
  const filtered = [...kept.map(({ text }) => text), clause(field, value, "in")]
    .join(" ");
  return `${filtered}${rest === "" ? "" : ` ${rest.trim()}`}`;
}

interface Term {
  text: string;
  at: number;
}

/** The filter's top-level terms and operators. A bracketed group is one term. */
export function topTerms(filter: string): Term[] {
  const terms: Term[] = [];
  let from = -1;
  let depth = 0;
  let isQuoted = false;
  for (let i = 0; i <= filter.length; i++) {
    const character = filter[i] ?? " ";
    const isBlank = /[\s\u00a0]/.test(character) && !isQuoted && depth === 0;
    if (i === filter.length || isBlank) {
      if (from >= 0) terms.push({ text: filter.slice(from, i), at: from });
      from = -1;
      continue;
    }
    if (from < 0) from = i;
    if (character === "\\") i += 1;
    else if (character === '"') isQuoted = !isQuoted;
    else if (!isQuoted && /[([{]/.test(character)) depth += 1;
    else if (!isQuoted && /[)\]}]/.test(character)) {
      depth = Math.max(0, depth - 1);
    }
  }
  return terms;
}

function hasTopOr(terms: Term[]): boolean {
  return terms.some(({ text }) => text === "OR");
}

/** The names after `by`, in the order of the answer's columns. */
export function groupKeys(query: string): string[] {
  const stage = stagesOf(query).find((one) => one !== "" && !ofRecords.test(one)) ?? "";
  const by = outside(stage, (character) => character === "b")
    .find((at) => /^by\s/.test(stage.slice(at)) && /[\s)]$/.test(stage.slice(0, at)));
  if (by === undefined) return [];
  const names = stage.slice(by + 2);
  const commas = outside(names, (character) => character === ",");
  return [-1, ...commas].map((at, i) => names.slice(at + 1, commas[i]).trim())
    .map((name) => name.startsWith("(") ? "ts" : name.replace(/^@(?!timestamp$)/, "attrs."));
}

/** The query that counts the filter's records by a field, or keeps its p95 and groups it by the field. */
export function groupedBy(query: string, field: string): string {
  const p95 = /\|\s*(p95\([^()]*\))/.exec(query)?.[1];
  return aggregated(query, p95 ?? "count()", field);
}

/** The query with the p95 of a field, grouped as before. */
export function measuredBy(query: string, field: string): string {
  const by = groupKeys(query).filter((key) => key !== "ts").join(", ");
  return aggregated(query, `p95(${field})`, by);
}

/** The query with the slowest of its spans first, each with its trace: records are sorted by time alone. */
export function byDuration(query: string): string {
  return `${filterOf(query)} | max(attrs.duration_ms) as duration_ms by msg, service, req_id`;
}

function aggregated(query: string, measure: string, by: string): string {
  const filter = splitQuery(query).filter.trim();
  return [filter, "|", measure, by && "by", by].filter((part) => part !== "").join(" ");
}

const variable = /-?((?:[\w@.-]|"[^"]*")+):\$(\w+)/g;

/** The variables of a query with their fields: `service:$name` has the variable `name` of `service`. */
export function variablesOf(query: string): [name: string, field: string][] {
  return [...query.matchAll(variable)].map(([, field = "", name = ""]) => [name, field]);
}

/** The query with values for its variables. A condition without a value is true of every record. */
export function withVariables(query: string, valueOf: (name: string) => string): string {
  return query.replace(variable, (condition: string, _field: string, name: string) => {
    const value = valueOf(name);
    return value === "" ? "*" : condition.replace(`$${name}`, () => quoted(value));
  });
}
