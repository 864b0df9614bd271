import { comparisons } from "./comparisons.ts";
import {
  isText,
  jsonOf,
  labelsOfJson,
  labelsOfLogfmt,
  type Template,
  textOfMember,
} from "./line_parsers.ts";
import { isInternal } from "./names.ts";
import { refuse } from "./refusal.ts";

/** A record on its way through the stages of a query. */
export interface Entry {
  line: string;
  readonly labels: Map<string, string>;
  readonly metadata: Map<string, string>;
  /** What stages made, which comes before the others. */
  readonly parsed: Map<string, string>;
}

/** Changes an entry, or leaves it out by saying false. */
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
        // Loki keeps what tells that a line could not be parsed.
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

/** A label that is not there leaves the other name as it is. */
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

/** What Loki says of a line that it cannot parse. */
function fail({ parsed }: Entry): void {
  parsed.set(parserError, "JSONParserErr");
  parsed.set("__error_details__", "the line is no JSON object");
}

/** `isInDatabase`: whether the database parses lines, too, and gives their members as attributes. */
export function parsing(kind: string, isInDatabase: () => boolean): Stage {
  return (entry) => {
    const json = kind === "json" ? jsonOf(entry.line) : undefined;
    if (kind === "json" && json === undefined) return fail(entry);
    const { labels, metadata, parsed } = entry;
    for (const [name, text] of json ? labelsOfJson(json) : labelsOfLogfmt(entry.line)) {
      if (isInDatabase() && metadata.get(name) === text) metadata.delete(name);
      parsed.set(labels.has(name) || metadata.has(name) ? `${name}_extracted` : name, text);
    }
  };
}

/** One member of the line under a name of its own. */
export function extracting(kind: string, name: string, segments: readonly string[]): Stage {
  return (entry) => {
    const json = kind === "json" ? jsonOf(entry.line) : undefined;
    if (kind === "json" && json === undefined) return fail(entry);
    const found = json === undefined
      ? labelsOfLogfmt(entry.line).get(segments.join("."))
      : memberOf(json, segments);
    if (found !== undefined) entry.parsed.set(name, found);
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
  return (entry) => isText(labelOf(entry, name), operator, value);
}

export function havingNumber(name: string, operator: string, bound: number): Stage {
  const compare = comparisons[operator === "=" ? "==" : operator] ??
    refuse(`label filter ${operator} is not supported`);
  return (entry) => {
    const text = labelOf(entry, name).trim();
    return text !== "" && !Number.isNaN(Number(text)) && compare(Number(text), bound);
  };
}

export function havingInLine(values: readonly string[], isNegative: boolean): Stage {
  return ({ line }) => values.some((value) => line.includes(value)) !== isNegative;
}
