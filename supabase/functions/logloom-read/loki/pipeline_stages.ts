import type { CapturingParser } from "./capturing_parsers.ts";
import { comparisons } from "./comparison_operators.ts";
import {
  jsonOf,
  labelsOfJson,
  labelsOfLogfmt,
  pairsOf,
  type Template,
  textOfMember,
  textTest,
} from "./line_parsers.ts";
import { isInternal } from "./label_names.ts";
import { refuse } from "./loki_error.ts";
import { bytesOf } from "./matchers.ts";
import { LokiRegex } from "./loki_regex.ts";
import { goSecondsOf, numberOf } from "./times_and_durations.ts";

/** A record on its way through the stages of a query. */
export interface Entry {
  line: string;
  readonly labels: Map<string, string>;
  readonly metadata: Map<string, string>;
  /** Labels that stages created. They override the record's labels. */
  readonly parsed: Map<string, string>;
}

/** Changes an entry; false leaves it out. */
export type Stage = (entry: Entry) => boolean | void;

export const parserError = "__error__";

const mapsOf = ({ labels, metadata, parsed }: Entry) => [parsed, metadata, labels];

export function labelOf(entry: Entry, name: string): string {
  return mapsOf(entry).find((map) => map.has(name))?.get(name) ?? "";
}

const filled = (entry: Entry, template: Template) =>
  template((name) => name === "__line__" ? entry.line : labelOf(entry, name));

export function dropping(names: readonly string[]): Stage {
  return (entry) => {
    for (const map of mapsOf(entry)) names.forEach((name) => map.delete(name));
  };
}

export function keeping(names: ReadonlySet<string>): Stage {
  return (entry) => {
    for (const map of mapsOf(entry)) {
      for (const name of map.keys()) {
        // Loki keeps the labels that mark a line as not parsed.
        if (!names.has(name) && !isInternal(name)) map.delete(name);
      }
    }
  };
}

export function writingLine(template: Template): Stage {
  return (entry) => {
    entry.line = filled(entry, template);
  };
}

export function writingLabel(name: string, template: Template): Stage {
  return (entry) => {
    const text = filled(entry, template);
    mapsOf(entry).forEach((map) => map.delete(name));
    entry.parsed.set(name, text);
  };
}

/** Renames a label. If it is missing, the target stays as it is. */
export function renaming(from: string, to: string): Stage {
  return (entry) => {
    const home = mapsOf(entry).find((map) => map.has(from));
    const text = home?.get(from);
    if (home === undefined || text === undefined) return;
    mapsOf(entry).forEach((map) => map.delete(to));
    home.delete(from);
    home.set(to, text);
  };
}

/** Marks a line that cannot be parsed, as Loki does. */
function fail({ parsed }: Entry): void {
  parsed.set(parserError, "JSONParserErr");
  parsed.set("__error_details__", "the line is not a JSON object");
}

export function parsing(kind: string): Stage {
  return (entry) => {
    const json = kind === "json" ? jsonOf(entry.line) : undefined;
    if (kind === "json" && json === undefined) return fail(entry);
    take(entry, json ? labelsOfJson(json) : labelsOfLogfmt(entry.line));
  };
}

/** Adds labels of the line. Those that the record has too get another name. */
function take({ labels, metadata, parsed }: Entry, found: Iterable<[string, string]>): void {
  for (const [name, text] of found) {
    parsed.set(labels.has(name) || metadata.has(name) ? `${name}_extracted` : name, text);
  }
}

/** Takes the parts of the line that `pattern` or `regexp` name. */
export function capturing({ labelsOf }: CapturingParser): Stage {
  return (entry) => take(entry, labelsOf(entry.line));
}

/** Takes one member of the line as a label of another name. */
export function extracting(kind: string, name: string, segments: readonly string[]): Stage {
  return (entry) => {
    const json = kind === "json" ? jsonOf(entry.line) : undefined;
    if (kind === "json" && json === undefined) return fail(entry);
    const found = json === undefined
      ? pairsOf(entry.line).find(([key]) => key === segments.join("."))?.[1]
      : memberOf(json, segments);
    if (found !== undefined) take(entry, [[name, found]]);
  };
}

function memberOf(json: Record<string, unknown>, segments: readonly string[]): string | undefined {
  let member: unknown = json;
  for (const key of segments) {
    if (typeof member !== "object" || member === null || !Object.hasOwn(member, key)) return;
    member = (member as Record<string, unknown>)[key];
  }
  return textOfMember(member) ?? (member === null ? undefined : JSON.stringify(member));
}

export function havingText(name: string, operator: string, value: string): Stage {
  const test = textTest(operator, value);
  return (entry) => test(labelOf(entry, name));
}

/** Compares numbers, durations or sizes, whichever the bound is. */
export function havingNumber(name: string, operator: string, bound: string): Stage {
  const compare = comparisons[operator === "=" ? "==" : operator] ??
    refuse(`label filter ${operator} is not supported`);
  const read = [
    numberOf,
    goSecondsOf,
    (text: string) => numberOf(bytesOf(text) ?? text),
  ].find((one) => one(bound) !== undefined) ??
    refuse(`label filter ${name} ${operator} ${bound} is not supported: a stage makes the label`);
  return (entry) => {
    const text = labelOf(entry, name);
    const number = read(text);
    // Like a filter in the database, `!=` keeps a text that is no number.
    return number === undefined ? operator === "!=" && text !== "" : compare(number, read(bound)!);
  };
}

export function havingInLine(operator: string, values: readonly string[]): Stage {
  const tests = values.map((value) => {
    const regex = operator.endsWith("~") ? new LokiRegex(value) : undefined;
    return (line: string) => regex?.test(line) ?? line.includes(value);
  });
  return ({ line }) => tests.some((test) => test(line)) !== operator.startsWith("!");
}
