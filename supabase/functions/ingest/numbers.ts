/**
 * JSON.parse makes doubles of numbers, and so loses digits that Postgres' jsonb would keep. Numbers
 * at risk are therefore marked in the text before it is parsed: they become strings that begin with
 * a secret of this process, travel through parsing and serialising as such, and are numbers again
 * in the text that goes to the database. Nobody outside can write a string that begins like this.
 */
const marker = `number:${crypto.randomUUID()}:`;
const markedInText = new RegExp(`"${marker}([^"]*)"`, "g");

/** Numbers that a double may change: 16 digits and more (some are safe), or an exponent. */
const riskyNumber = /[:,[][ \t\n\r]*(?=-?(?![1-8]\d{15}(?![\d.eE]))\d(?:[\d.]{15}|[\d.]*[eE]))/g;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}])/y;

/** The text with its numbers marked that a double would change. */
export function markNumbers(text: string): string {
  const candidates = riskyNumber;
  candidates.lastIndex = 0;
  let marked = "";
  let copied = 0;
  let outside = 0;
  let quote = text.indexOf('"');
  for (;;) {
    const candidate = candidates.exec(text);
    if (candidate === null) break;
    while (quote !== -1 && quote < candidate.index) {
      outside = endOfString(text, quote);
      quote = text.indexOf('"', outside);
    }
    if (outside > candidate.index) {
      candidates.lastIndex = outside;
      continue;
    }
    numberToken.lastIndex = candidates.lastIndex;
    const source = numberToken.exec(text)?.[0];
    if (source === undefined) continue;
    const replacement = guarded(source);
    if (replacement === undefined) continue;
    marked += text.slice(copied, candidates.lastIndex) + replacement;
    copied = numberToken.lastIndex;
    candidates.lastIndex = copied;
  }
  return copied === 0 ? text : marked + text.slice(copied);
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

/**
 * The JSON string that stands for a number, or undefined where the number may stay. What is beyond
 * a double, or absurdly long, is kept as its text, because its readers could not take it.
 */
function guarded(source: string): string | undefined {
  if (source.length > 300) return `"${source}"`;
  const value = Number(source);
  if (!Number.isFinite(value)) return `"${source}"`;
  if (value === 0 && /[1-9]/.test(source.replace(/[eE].*/, ""))) return `"${source}"`;
  const canonical = canonicalNumber(source);
  if (numberText(value) === canonical) return undefined;
  // A few bytes must not become hundreds of zeros; Postgres writes them out just as well.
  return `"${markNumber(canonical.length > source.length + 40 ? source : canonical)}"`;
}

/**
 * The one text of a number, as Postgres' trim_scale gives it: no zeros at the end of a fraction, no
 * exponent, no negative zero.
 */
export function canonicalNumber(source: string): string {
  const [, sign, whole, fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? [];
  const digits = whole + fraction;
  if (!/[1-9]/.test(digits)) return "0";
  const point = whole.length + Number(exponent);
  const before = point > 0 ? digits.slice(0, point).padEnd(point, "0") : "0";
  const after = point > 0 ? digits.slice(point) : "0".repeat(-point) + digits;
  const trimmed = after.replace(/0+$/, "");
  return sign + before.replace(/^0+(?=\d)/, "") + (trimmed === "" ? "" : `.${trimmed}`);
}

/** The text of a number that JSON.parse gave. */
export function numberText(value: number): string {
  const text = String(value);
  return text.includes("e") ? canonicalNumber(text) : text;
}

/** A string that stands for the number of this text. */
export function markNumber(canonical: string): string {
  return marker + canonical;
}

/** The text of a marked number; undefined for any other string. */
export function markedNumber(text: string): string | undefined {
  if (!text.startsWith(marker)) return undefined;
  const number = text.slice(marker.length);
  return /[eE]/.test(number) ? canonicalNumber(number) : number;
}

export function unmarkNumbers(json: string): string {
  return json.includes(marker) ? json.replace(markedInText, "$1") : json;
}
