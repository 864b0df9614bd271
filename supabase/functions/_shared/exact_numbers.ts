/**
 * Matches a number whose text may change when a double reads and writes it: one of sixteen characters or more, with an
 * exponent, with a 0 at the end of its fraction, or below a millionth. Also matches within strings; `withTexts` skips
 * these matches. A pattern that skips strings would fail at long strings, and a pattern without a limit at long
 * numbers. PostgreSQL's longest has 147,456 characters.
 */
const unlikeDouble =
  /[:,[]\s*(-?(?:[\d.]{16,150000}(?:[eE][+-]?\d+)?|\d[\d.]{0,14}[eE][+-]?\d+|0\.0{6}\d{1,7}|\d{1,13}\.\d{0,12}0))(?=\s*[,\]}])/g;

/** Turns each number of a JSON text for which `isText` is true into a string that begins with `before`. */
export function withTexts(json: string, isText: (number: string) => boolean, before = ""): string {
  let quote = json.indexOf('"');
  let outside = 0;
  // A reviver of JSON.parse would take seconds for millions of numbers.
  return json.replace(unlikeDouble, (found: string, number: string, at: number) => {
    while (quote !== -1 && quote < at) {
      outside = endOfString(json, quote);
      quote = json.indexOf('"', outside);
    }
    return outside > at || !isText(number)
      ? found
      : `${found.slice(0, -number.length)}"${before}${number}"`;
  });
}

/** A number that a double would change. It keeps its text. */
export class ExactNumber {
  constructor(readonly text: string) {}

  toString(): string {
    return this.text;
  }

  toJSON(): string {
    return mark + this.text;
  }
}

/** Marks an exact number while it is a string. No string of a record has a NUL, but a parameter may. */
const mark = "\0";
const marked = /"\\u0000(-?\d[\d.eE+-]*)"/g;

/** Parses JSON. Each number for which `isText` is true becomes an ExactNumber. */
export function parseExactly(json: string, isText: (number: string) => boolean): unknown {
  const text = withTexts(json, isText, "\\u0000");
  if (text === json) return JSON.parse(json);
  return JSON.parse(
    text,
    (_key, value: unknown) =>
      typeof value === "string" && value.startsWith(mark)
        ? new ExactNumber(value.slice(mark.length))
        : value,
  );
}

/** Writes a value from `parseExactly` as JSON again, with its numbers as they were. */
export function jsonOf(value: unknown, indent?: number): string {
  return (JSON.stringify(value, undefined, indent) ?? "null").replaceAll(marked, "$1");
}

/** Whether a double cannot hold all digits of a number. */
export function changes(number: string): boolean {
  return digits(number) !== digits(`${Number(number)}`);
}

/** Whether a double writes a number in another way. */
export function rewrites(number: string): boolean {
  return `${Number(number)}` !== number;
}

function digits(number: string): string {
  // Without the look-behind, each of many zeros within a number would be tried as the first of the last ones.
  return number.replace(/e.*/i, "").replace(/[-.]/g, "").replace(/^0+/, "")
    .replace(/(?<!0)0+$/, "");
}

/** The position after the string that opens at `quote`. */
export function endOfString(text: string, quote: number): number {
  let end = quote;
  for (;;) {
    end = text.indexOf('"', end + 1);
    if (end === -1) return text.length;
    let before = end - 1;
    while (text.charCodeAt(before) === 0x5c) before--;
    if ((end - before) % 2 === 1) return end + 1;
  }
}
