import { rewrites, withTexts } from "../../_shared/exact_numbers.ts";
import { keyOf } from "./label_names.ts";
import { refuse } from "./loki_error.ts";
import { LokiRegex } from "./loki_regex.ts";

/** The members of a line that is a JSON object. Numbers keep their text. */
export function jsonOf(line: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(withTexts(line, rewrites));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The labels that Loki makes of an object: nested objects are flattened, lists and nulls are left out. */
export function labelsOfJson(value: Record<string, unknown>): Map<string, string> {
  const labels = new Map<string, string>();
  const walk = (members: Record<string, unknown>, prefix: string) => {
    for (const [key, member] of Object.entries(members)) {
      const own = key.trim();
      const name = labelName(prefix === "" ? own : `${prefix}_${own}`);
      const text = textOfMember(member);
      if (text !== undefined) {
        if (!labels.has(name)) labels.set(name, text);
      } else if (isObject(member)) walk(member, name);
    }
  };
  walk(value, "");
  return labels;
}

export function textOfMember(member: unknown): string | undefined {
  return ["string", "number", "boolean"].includes(typeof member) ? String(member) : undefined;
}

export function labelName(key: string): string {
  const name = key.replace(/[^A-Za-z0-9_]/g, "_");
  return /^[0-9]/.test(name) ? `_${name}` : name;
}

/** `a=1 b="two words"`; a key without a value has an empty text. */
export function pairsOf(line: string): [string, string][] {
  return [...line.matchAll(pairs)].map(([, key, , quoted, plain]) => [
    key,
    quoted === undefined
      ? plain ?? ""
      : quoted.replace(/\\(["\\nrt])/g, (_, sign: string) => escapes[sign]),
  ]);
}

export function labelsOfLogfmt(line: string): Map<string, string> {
  const labels = new Map<string, string>();
  for (const [key, value] of pairsOf(line)) {
    if (value !== "" && !labels.has(labelName(key))) labels.set(labelName(key), value);
  }
  return labels;
}

const pairs = /([^\s="]+)(=(?:"((?:[^"\\]|\\.)*)"|([^\s"]*)))?/g;
const escapes: Record<string, string> = { '"': '"', "\\": "\\", n: "\n", r: "\r", t: "\t" };

/** The attributes that the database's stage of this name adds to a record. */
export function membersOfLine(parser: string, line: string): [string, unknown][] {
  return parser === "json"
    ? membersIn(jsonOf(line) ?? {})
    : pairsOf(line).map(([key, text]) => [`attrs.${keyOf(key)}`, text]);
}

/** An object's members as fields that a query can name, down to a depth. */
export function membersIn(value: unknown, field = "attrs", depth = 5): [string, unknown][] {
  if (value === null) return [];
  if (typeof value !== "object" || Array.isArray(value) || depth === 0) return [[field, value]];
  return Object.entries(value)
    .flatMap(([key, member]) => membersIn(member, `${field}.${keyOf(key)}`, depth - 1));
}

/** A filter on a text that is not a record's. */
export function textTest(operator: string, value: string): (text: string) => boolean {
  const regex = operator.endsWith("~") ? new LokiRegex(value, { isWhole: true }) : undefined;
  const isNegative = operator.startsWith("!");
  return (text) => (regex?.test(text) ?? text === value) !== isNegative;
}

type Reading = (name: string) => string;
export type Template = (read: Reading) => string;

const functions: Record<string, (text: string) => string> = {
  upper: (text) => text.toUpperCase(),
  ToUpper: (text) => text.toUpperCase(),
  lower: (text) => text.toLowerCase(),
  ToLower: (text) => text.toLowerCase(),
  trim: (text) => text.trim(),
  TrimSpace: (text) => text.trim(),
};

/** `{{.name}} {{.other | upper}} {{__line__}}`: names and simple functions of Go's templates. */
export function templateOf(stage: string, template: string): Template {
  const parts = template.split(/(\{\{[\s\S]*?\}\})/).map((part, n): Template => {
    if (n % 2 === 0) return part.includes("{{") ? unknown(stage, part) : () => part;
    const [source, ...calls] = part.slice(2, -2).split("|").map((piece) => piece.trim());
    const [, name] = /^(?:\.([A-Za-z_]\w*)|__line__)$/.exec(source) ?? unknown(stage, part);
    const applied = calls.map((call) =>
      Object.hasOwn(functions, call) ? functions[call] : unknown(stage, part)
    );
    return (read) => applied.reduce((text, apply) => apply(text), read(name ?? "__line__"));
  });
  return (read) => parts.map((part) => part(read)).join("");
}

function unknown(stage: string, part: string): never {
  return refuse(
    `| ${stage}: ${part} is not supported: only {{.name}}, {{__line__}} and ` +
      `${Object.keys(functions).join(", ")} are`,
  );
}
