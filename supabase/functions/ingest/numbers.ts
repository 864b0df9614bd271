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
const anyNumber = /[:,[][ \t\n\r]*(?=-?\d)/g;
const numberToken = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?=[\s,\]}])/y;
const notAsPrinted = /[:,[][ \t\n\r]*(?:-?\d+\.\d*0(?![\d.])|-0(?![\d.]))/;

/** Whether the text may hold numbers, beyond the risky ones, that JavaScript would print otherwise. */
export function hasUnusualNumbers(text: string): boolean {
  return notAsPrinted.test(text);
}

/** The text with its risky numbers marked, or with every number that would not print as written. */
export function markNumbers(text: string, which: "risky" | "all"): string {
  const candidates = which === "risky" ? riskyNumber : anyNumber;
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
function endOfString(text: string, quote: number): number {
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
  return String(value) === source ? undefined : `"${marker}${source}"`;
}

/** The source text of a marked number; undefined for any other string. */
export function markedNumber(text: string): string | undefined {
  return text.startsWith(marker) ? text.slice(marker.length) : undefined;
}

export function unmarkNumbers(json: string): string {
  return json.replace(markedInText, "$1");
}
