import { endOfString } from "../_shared/exact_numbers.ts";

/** The position of the first JSON error, and its reason. */
export interface JsonFault {
  /** Counted from 1, in characters. */
  readonly line: number;
  readonly column: number;
  readonly why: string;
}

const space = /[ \t\r\n]*/y;
const scalar =
  /(?:-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null)(?![\w.+-])/y;

/** The position after the string that opens at `quote`; undefined if the string is invalid. */
function endOfText(json: string, quote: number): number | undefined {
  for (let at = quote + 1; at < json.length; at++) {
    const letter = json[at];
    if (letter === '"') return at + 1;
    if (letter < " ") return undefined;
    if (letter !== "\\") continue;
    at++;
    if (json[at] === "u" && /^[0-9a-fA-F]{4}$/.test(json.slice(at + 1, at + 5))) at += 4;
    else if (!'"\\/bfnrt'.includes(json[at] ?? " ")) return undefined;
  }
  return undefined;
}

/** The first fault of a text that is not JSON; undefined if none is found. */
export function jsonFault(json: string): JsonFault | undefined {
  /** The open brackets. */
  const open: string[] = [];
  /** What may come next: a value, a name (the first of an object or another), or the end of a value. */
  let next: "value" | "first" | "name" | "end" = "value";
  let at = 0;
  const taken = (pattern: RegExp) => {
    pattern.lastIndex = at;
    const length = pattern.exec(json)?.[0].length ?? 0;
    at += length;
    return length > 0;
  };
  const textTaken = () => {
    const end = json[at] === '"' ? endOfText(json, at) : undefined;
    at = end ?? at;
    return end !== undefined;
  };
  while (true) {
    taken(space);
    const letter = json[at];
    const inside = open[open.length - 1];
    if (letter === undefined) {
      return open.length === 0 && next === "end" ? undefined : fault(json, at, "it ends early");
    }
    if (next === "end") {
      if (inside === undefined) return fault(json, at, "text after the end");
      if (letter === ",") next = inside === "{" ? "name" : "value";
      else if (letter === (inside === "{" ? "}" : "]")) open.pop();
      else return fault(json, at, `expected , or ${inside === "{" ? "}" : "]"}`);
      at++;
      continue;
    }
    if (next === "first" && letter === (inside === "{" ? "}" : "]")) {
      open.pop();
      at++;
      next = "end";
      continue;
    }
    if (inside === "{" && (next === "first" || next === "name")) {
      if (!textTaken()) return fault(json, at, whyNoName(json, at));
      taken(space);
      if (json[at] !== ":") return fault(json, at, "expected : after a name");
      at++;
      next = "value";
      continue;
    }
    if (letter === "{" || letter === "[") {
      open.push(letter);
      at++;
      next = "first";
      continue;
    }
    if (!textTaken() && !taken(scalar)) return fault(json, at, whyNoValue(json, at));
    next = "end";
  }
}

function whyNoName(json: string, at: number): string {
  if (json[at] === "}") return "a comma before }";
  return json[at] === '"' ? whyNoText(json, at) : "names need double quotes";
}

function whyNoValue(json: string, at: number): string {
  const word = /[-+]?[A-Za-z]+/y;
  word.lastIndex = at;
  const found = word.exec(json)?.[0] ?? "";
  if (/^[-+]?(?:NaN|Infinity|inf|nan|undefined|None)$/.test(found)) {
    return `${found} is not JSON: use null`;
  }
  if (/^(?:True|False)$/.test(found)) return `${found} is not JSON: use ${found.toLowerCase()}`;
  switch (json[at]) {
    case '"':
      return whyNoText(json, at);
    case "'":
      return "strings need double quotes";
    case "]":
      return "a comma before ]";
    case "/":
    case "#":
      return "JSON has no comments";
    default:
      return "expected a value";
  }
}

function whyNoText(json: string, at: number): string {
  if (endOfString(json, at) >= json.length && !json.endsWith('"')) return "a string is not closed";
  return "a string has a line break, another control character or an invalid escape";
}

function fault(json: string, at: number, why: string): JsonFault {
  const before = json.slice(0, at);
  const start = before.lastIndexOf("\n") + 1;
  let line = 1;
  for (let n = before.indexOf("\n"); n !== -1; n = before.indexOf("\n", n + 1)) line++;
  return { line, column: [...before.slice(start)].length + 1, why };
}
