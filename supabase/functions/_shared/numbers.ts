import { endOfString } from "./exact_numbers.ts";

/**
 * JSON.parse turns numbers into doubles and loses digits that jsonb would keep. So numbers at risk become strings before
 * parsing, and numbers again in the text for the database. The strings begin with a secret of this process, so no
 * sender can write one.
 */
// randomUUID is missing in the console at an address without TLS.
const marker = `number:${crypto.getRandomValues(new Uint32Array(4)).join("-")}:`;
const markedInText = new RegExp(`"${marker}([^"]*)"`, "g");

/**
 * Matches numbers that a double may change: they have 16 or more digits (some of these are safe), or an exponent. The
 * text after the number must be possible outside a string. Most digits within messages fail this test. The strings
 * before the number are read only for a match.
 */
const riskyNumber =
  /[:,[][ \t\n\r]*(?=-?(?![1-8]\d{15}(?![\d.eE]))\d(?:[\d.]{15}|[\d.]*[eE])[\d.eE+-]*[ \t\n\r]*(?:[\]}]|,[ \t\n\r]*(?:["{[\d-]|true|false|null)))/g;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}])/y;

/** The JSON text with the numbers at risk marked. */
export function markNumbers(text: string): string {
  const candidates = riskyNumber;
  candidates.lastIndex = 0;
  let marked = "";
  let copied = 0;
  let outside = 0;
  let quote = text.indexOf('"');
  for (;;) {
    // Uses only the position: an array of matches would double the cost.
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

/** A number whose text without exponent would be longer than this is stored as sent, if that is shorter. */
const maxWrittenOut = 40;

/**
 * The JSON string for a number, or undefined if the number may stay. Numbers too large for a double, very long numbers,
 * and exponents that stand for hundreds of zeros are stored as text.
 */
function guarded(source: string): string | undefined {
  if (source.length > 300) return `"${source}"`;
  const value = Number(source);
  // Most numbers are integers: their text needs no change.
  if (!/[.eE]/.test(source)) return String(value) === source ? undefined : `"${marker}${source}"`;
  if (!Number.isFinite(value)) return `"${source}"`;
  const decimal = decimalOf(source);
  if (value === 0 && decimal.digits !== "") return `"${source}"`;
  if (lengthOf(decimal) > Math.max(maxWrittenOut, source.length)) return `"${source}"`;
  const canonical = textOf(decimal);
  return numberText(value) === canonical ? undefined : `"${markNumber(canonical)}"`;
}

/** A number's digits without zeros at both ends, and the position of its point. */
interface Decimal {
  readonly sign: string;
  readonly digits: string;
  /** The number of digits before the point; if negative, the number of zeros after it. */
  readonly point: number;
}

/** Uses loops: a regular expression would try the trailing zeros again from each position. */
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

/** The length of the number's text, which may be too long to build. */
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
 * The canonical text of a number, like Postgres' trim_scale: no trailing zeros in a fraction, no exponent, no negative
 * zero.
 */
export function canonicalNumber(source: string): string {
  return textOf(decimalOf(source));
}

/** The text of a number from JSON.parse, or of a double that was sent. */
export function numberText(value: number): string {
  const text = String(value);
  if (!text.includes("e")) return text;
  const decimal = decimalOf(text);
  return lengthOf(decimal) > maxWrittenOut ? text : textOf(decimal);
}

/** A double as it is stored: as a number, or as its shortest text if the text without exponent is too long. */
export function storedNumber(value: number): number | string {
  const text = String(value);
  if (!Number.isFinite(value)) return text;
  return text.includes("e") && numberText(value) === text ? text : value;
}

/** Writes a string that stands for the number with this text, which has no exponent. */
export function markNumber(canonical: string): string {
  return marker + canonical;
}

/** The text of a marked number; undefined for any other string. */
export function markedNumber(text: string): string | undefined {
  return text.startsWith(marker) ? text.slice(marker.length) : undefined;
}

/** Whether a value of parsed JSON was sent as a text. A marked number was not. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && !value.startsWith(marker);
}

export function unmarkNumbers(json: string): string {
  return json.includes(marker) ? json.replace(markedInText, "$1") : json;
}
