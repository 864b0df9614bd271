/** Stands before the text of a number that JavaScript would round; no text of a record has a NUL. */
const mark = "\0";

const stringOrNumber = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** JSON in which numbers that JavaScript would round keep their text. */
export function parseExactly(json: string): unknown {
  return JSON.parse(withTexts(json, "\\u0000"));
}

/** JSON with a text instead of each number that JavaScript would round. */
export function withTexts(json: string, before = ""): string {
  return json.replace(
    stringOrNumber,
    (token) => token[0] === '"' || String(Number(token)) === token ? token : `"${before}${token}"`,
  );
}

/** The text of a value from `parseExactly`; a string as it is. */
export function textOf(value: unknown): string {
  if (typeof value !== "string") return jsonOf(value);
  return value.startsWith(mark) ? value.slice(mark.length) : value;
}

/** A value from `parseExactly` as JSON again, numbers as they were. */
export function jsonOf(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent).replaceAll(/"\\u0000([^"]*)"/g, "$1");
}
