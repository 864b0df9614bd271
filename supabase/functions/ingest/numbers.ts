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
    // Where it stands is all that is asked: an array of what was found would cost as much again.
    if (!candidates.test(text)) break;
    const start = candidates.lastIndex;
    while (quote !== -1 && quote < start) {
      outside = endOfString(text, quote);
      quote = text.indexOf('"', outside);
    }
    if (outside > start) {
      candidates.lastIndex = outside;
      continue;
    }
    numberToken.lastIndex = start;
    if (!numberToken.test(text)) continue;
    const replacement = guarded(text.slice(start, numberToken.lastIndex));
    if (replacement === undefined) continue;
    marked += text.slice(copied, start) + replacement;
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

/** A number whose text is longer is kept as it was sent, unless that is no shorter. */
const maxWrittenOut = 40;

/**
 * The JSON string that stands for a number, or undefined where the number may stay. What is beyond
 * a double, absurdly long, or a few letters that stand for hundreds of zeros, is kept as its text.
 */
function guarded(source: string): string | undefined {
  if (source.length > 300) return `"${source}"`;
  const value = Number(source);
  // An integer, as most are: its text is the one that it has, and no longer than what was sent.
  if (!/[.eE]/.test(source)) return String(value) === source ? undefined : `"${marker}${source}"`;
  if (!Number.isFinite(value)) return `"${source}"`;
  const decimal = decimalOf(source);
  if (value === 0 && decimal.digits !== "") return `"${source}"`;
  if (lengthOf(decimal) > Math.max(maxWrittenOut, source.length)) return `"${source}"`;
  const canonical = textOf(decimal);
  return numberText(value) === canonical ? undefined : `"${markNumber(canonical)}"`;
}

/** A number's digits from its first to its last that is not 0, and where the point stands. */
interface Decimal {
  readonly sign: string;
  readonly digits: string;
  /** How many digits stand before it; as many zeros as below 0 stand between. */
  readonly point: number;
}

/** By loops: a regular expression tries the zeros at the end anew from each of them. */
function decimalOf(source: string): Decimal {
  const exponentAt = source.search(/[eE]/);
  const mantissa = exponentAt === -1 ? source : source.slice(0, exponentAt);
  const start = mantissa.startsWith("-") ? 1 : 0;
  const dot = mantissa.indexOf(".");
  const whole = dot === -1 ? mantissa.slice(start) : mantissa.slice(start, dot);
  const digits = dot === -1 ? whole : whole + mantissa.slice(dot + 1);
  let first = 0;
  while (digits.charCodeAt(first) === 0x30) first++;
  if (first === digits.length) return { sign: "", digits: "", point: 0 };
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end--;
  return {
    sign: start === 1 ? "-" : "",
    digits: digits.slice(first, end),
    point: whole.length - first + (exponentAt === -1 ? 0 : Number(source.slice(exponentAt + 1))),
  };
}

/** The length of its text, which may be too long to be made. */
function lengthOf({ sign, digits, point }: Decimal): number {
  if (digits === "") return 1;
  if (point <= 0) return sign.length + 2 - point + digits.length;
  return sign.length + Math.max(point, digits.length) + (digits.length > point ? 1 : 0);
}

function textOf({ sign, digits, point }: Decimal): string {
  if (digits === "") return "0";
  if (point <= 0) return `${sign}0.${"0".repeat(-point)}${digits}`;
  if (point >= digits.length) return sign + digits.padEnd(point, "0");
  return `${sign}${digits.slice(0, point)}.${digits.slice(point)}`;
}

/**
 * The one text of a number, as Postgres' trim_scale gives it: no zeros at the end of a fraction, no
 * exponent, no negative zero.
 */
export function canonicalNumber(source: string): string {
  return textOf(decimalOf(source));
}

/** The text of a number that JSON.parse gave, or of a double that was sent. */
export function numberText(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  const decimal = decimalOf(text);
  return lengthOf(decimal) > maxWrittenOut ? text : textOf(decimal);
}

/** A double that was sent as such: its shortest text where it would be written out too long. */
export function storedNumber(value: number): number | string {
  const text = String(value);
  if (!Number.isFinite(value)) return text;
  return text.includes("e") && numberText(value) === text ? text : value;
}

/** A string that stands for the number of this text, which has no exponent. */
export function markNumber(canonical: string): string {
  return marker + canonical;
}

/** The text of a marked number; undefined for any other string. */
export function markedNumber(text: string): string | undefined {
  return text.startsWith(marker) ? text.slice(marker.length) : undefined;
}

export function unmarkNumbers(json: string): string {
  return json.includes(marker) ? json.replace(markedInText, "$1") : json;
}
