import { processorMs } from "../../supabase/functions/_shared/testing_processor.ts";
import { type Letters, lettersFor } from "./letters.ts";

/** What a pattern's worst letters cost. */
export interface Cost {
  readonly letters: Letters;
  /** Times that of half as many, over two doublings. */
  readonly doubling: number;
  readonly length: number;
  readonly milliseconds: readonly number[];
}

/** What is linear doubles, and a processor's caches and neighbours add to it. */
export const mostForDouble = 2.6;

/** What a square comes near to, and no noise twice. */
const squareDoubles = 3.6;

/** The best of so many. */
const rounds = 5;
/** A first look ends at so many letters. */
const firstLength = 400;
/** What takes less is not told from nothing. */
const leastLookMs = 0.01;
/** So long a first look is measured at once: of what is linear it takes a twentieth. */
const suspiciousMs = 0.1;
/** So many that were slow at first are looked at once more, with more letters; the slowest of them are measured. */
const lookedAt = 40;
const lookLength = 2000;
const measured = 4;
/** As long as a body. */
const longest = 8 * 1024 * 1024;
/** As long as a measurement has to be, so that it is one. */
const leastMs = 1;
/** What took so long and did not double is judged by it: no longer text is tried. */
const plainMs = 100;

/** The worst of what can be asked of a pattern, or the first that is too much. */
export function worstCost(source: string, flags: string): Cost {
  const pattern = new RegExp(source, flags);
  const all = lettersFor(source, flags);
  const slowest: { letters: Letters; took: number }[] = [];
  const sort = () => slowest.sort((one, other) => other.took - one.took);
  for (const letters of all) {
    let took = firstLook(pattern, letters);
    if (slowest.length === lookedAt && took <= slowest[lookedAt - 1].took) continue;
    // Once more: the first time may have been another process's.
    took = Math.min(took, firstLook(pattern, letters));
    if (took === Infinity) return endless(letters);
    if (took > suspiciousMs) {
      const cost = costOf(pattern, letters);
      if (cost.doubling > mostForDouble) return cost;
    }
    slowest.push({ letters, took });
    sort().length = Math.min(slowest.length, lookedAt);
  }
  for (const one of slowest) {
    const text = textOf(one.letters, lookLength);
    one.took = Math.min(wallMs(pattern, text), wallMs(pattern, text), wallMs(pattern, text));
  }
  let worst: Cost | undefined;
  for (const { letters } of sort().slice(0, measured)) {
    const cost = costOf(pattern, letters);
    if (worst === undefined || cost.doubling > worst.doubling) worst = cost;
    if (worst.doubling > mostForDouble) return worst;
  }
  const beyond = all.find((letters) => letters.isLoop && isBeyond(pattern, letters));
  return beyond === undefined && worst !== undefined ? worst : endless(beyond ?? all[0]);
}

function endless(letters: Letters): Cost {
  return { letters, doubling: Infinity, length: 0, milliseconds: [] };
}

/** Milliseconds for some hundred letters; Infinity where a few more cost many times as much. */
function firstLook(pattern: RegExp, letters: Letters): number {
  let last = leastLookMs;
  let took = 0;
  // After what costs next to nothing twice as many letters cost at worst the square of its steps.
  for (let length = 12; length < firstLength; length *= last > leastLookMs ? 1.3 : 2) {
    const text = textOf(letters, length);
    took = wallMs(pattern, text);
    // Another process may have had the processor: what costs little shows it at a quiet moment.
    for (let look = 0; took > 0.5 && took > 4 * last; look++) {
      if (look === 20) return Infinity;
      took = Math.min(took, wallMs(pattern, text));
    }
    last = Math.max(took, leastLookMs);
  }
  return took;
}

function costOf(pattern: RegExp, letters: Letters): Cost {
  let length = lookLength;
  while (8 * length <= longest && wallMs(pattern, textOf(letters, length)) < leastMs) length *= 2;
  let cost = costFrom(pattern, letters, length);
  // A cache that a text has outgrown looks like a square once; a square looks like one ever after.
  while (
    cost.doubling > mostForDouble && cost.milliseconds[2] < plainMs && 8 * cost.length <= longest
  ) cost = costFrom(pattern, letters, 2 * cost.length);
  return cost;
}

function costFrom(pattern: RegExp, letters: Letters, length: number): Cost {
  const texts = [length, 2 * length, 4 * length].map((many) => textOf(letters, many));
  // A text that was put together becomes one when it is first read.
  for (const text of texts) run(pattern, text);
  const milliseconds = texts.map(() => Infinity);
  let doubling = Infinity;
  // What is linear proves to be so at the first quiet moment; a square is one at any moment.
  for (let round = 0; round < rounds && doubling > mostForDouble; round++) {
    if (round === 2 && doubling > squareDoubles) break;
    for (const [n, text] of texts.entries()) {
      milliseconds[n] = Math.min(milliseconds[n], processorMs(() => run(pattern, text)));
    }
    // What takes no time to speak of doubles as it likes.
    doubling = Math.sqrt(Math.max(milliseconds[2], leastMs) / Math.max(milliseconds[0], leastMs));
  }
  return { letters, doubling, length, milliseconds };
}

function textOf({ before, again, after }: Letters, length: number): string {
  return before + again.repeat(Math.ceil(length / again.length)) + after;
}

/** Whether a text as long as a body has more places to come back to than there is room for. */
function isBeyond(pattern: RegExp, letters: Letters): boolean {
  let last = Infinity;
  for (let length = longest / 512; length <= longest; length *= 8) {
    try {
      const text = textOf(letters, length);
      const took = processorMs(() => run(pattern, text));
      // Whoever keeps places goes through the text, and that takes three times as long.
      if (length === longest / 8 && took < 0.1) return false;
      // Eight times as long, and more than half of what its square costs.
      if (took > 500 && took > 40 * last) return true;
      last = Math.max(took, leastMs);
    } catch (error) {
      if (error instanceof RangeError) return true;
      throw error;
    }
  }
  return false;
}

function wallMs(pattern: RegExp, text: string): number {
  const began = performance.now();
  run(pattern, text);
  return performance.now() - began;
}

/** Every match where it looks for more than one, else the first. */
function run(pattern: RegExp, text: string): void {
  let from = 0;
  pattern.lastIndex = 0;
  while (pattern.test(text) && (pattern.global || pattern.sticky) && from < text.length) {
    // An empty match would be found again.
    if (pattern.lastIndex === from) pattern.lastIndex++;
    from = pattern.lastIndex;
  }
}

/** Run as a program: patterns in, on standard input, their costs out, as JSON. */
if (import.meta.main) {
  const patterns: { source: string; flags: string }[] = JSON.parse(
    await new Response(Deno.stdin.readable).text(),
  );
  const costs = patterns.map(({ source, flags }) => worstCost(source, flags));
  // JSON has no word for Infinity.
  console.log(JSON.stringify(costs.map((cost) => ({
    ...cost,
    doubling: Math.min(cost.doubling, Number.MAX_VALUE),
  }))));
}
