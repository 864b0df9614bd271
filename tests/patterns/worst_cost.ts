import { processorMs } from "../../supabase/functions/_shared/testing_processor.ts";
import { type Letters, lettersFor } from "./pattern_letters.ts";

/** The cost of a pattern's worst text. */
export interface Cost {
  readonly letters: Letters;
  /** How many times the cost grows when the length doubles: the average of two doublings. */
  readonly doubling: number;
  readonly length: number;
  readonly milliseconds: readonly number[];
}

/** The highest such factor of a linear cost: 2, and a margin for caches and other processes. */
export const mostForDouble = 2.6;

/** A quadratic cost comes near to this factor. Noise does not reach it twice. */
const squareDoubles = 3.6;

/** The best of this many rounds counts. */
const rounds = 5;
/** The first measurement uses up to this many letters. */
const firstLength = 400;
/** Shorter times cannot be measured. */
const leastLookMs = 0.01;
/** A text whose first measurement takes this long is measured exactly at once. Linear patterns take a twentieth. */
const suspiciousMs = 0.1;
/** This many slow texts are tried again with more letters, and the slowest of them are measured. */
const lookedAt = 40;
const lookLength = 2000;
const measured = 4;
/** The length of the largest body. */
const longest = 8 * 1024 * 1024;
/** The shortest time that counts as a measurement. */
const leastMs = 1;
/** Once a text takes this long, no longer texts are tried. */
const plainMs = 100;

/** Returns the worst cost of a pattern, or the first cost that is too high. */
export function worstCost(source: string, flags: string): Cost {
  const pattern = new RegExp(source, flags);
  const all = lettersFor(source, flags);
  const slowest: { letters: Letters; took: number }[] = [];
  const sort = () => slowest.sort((one, other) => other.took - one.took);
  for (const letters of all) {
    let took = firstLook(pattern, letters);
    if (slowest.length === lookedAt && took <= slowest[lookedAt - 1].took) continue;
    // Measures once more, because another process may have disturbed the first measurement.
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

/** The milliseconds for a text of some hundred letters. Infinity if a few more letters multiply the cost. */
function firstLook(pattern: RegExp, letters: Letters): number {
  let last = leastLookMs;
  let took = 0;
  // Doubles the length while it costs next to nothing, and grows slowly afterwards.
  for (let length = 12; length < firstLength; length *= last > leastLookMs ? 1.3 : 2) {
    const text = textOf(letters, length);
    took = wallMs(pattern, text);
    // Measures more often, because another process may have used the processor.
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
  // A text that outgrows a cache looks quadratic once; a quadratic pattern does so at every length.
  while (
    cost.doubling > mostForDouble && cost.milliseconds[2] < plainMs && 8 * cost.length <= longest
  ) cost = costFrom(pattern, letters, 2 * cost.length);
  return cost;
}

function costFrom(pattern: RegExp, letters: Letters, length: number): Cost {
  const texts = [length, 2 * length, 4 * length].map((many) => textOf(letters, many));
  // Flattens the concatenated texts before measuring.
  for (const text of texts) run(pattern, text);
  const milliseconds = texts.map(() => Infinity);
  let doubling = Infinity;
  // A busy machine needs more rounds. A quadratic cost shows in every round.
  for (let round = 0; round < rounds && doubling > mostForDouble; round++) {
    if (round === 2 && doubling > squareDoubles) break;
    for (const [n, text] of texts.entries()) {
      milliseconds[n] = Math.min(milliseconds[n], processorMs(() => run(pattern, text)));
    }
    // Very short times are not compared.
    doubling = Math.sqrt(Math.max(milliseconds[2], leastMs) / Math.max(milliseconds[0], leastMs));
  }
  return { letters, doubling, length, milliseconds };
}

function textOf({ before, again, after }: Letters, length: number): string {
  return before + again.repeat(Math.ceil(length / again.length)) + after;
}

/** Returns whether a text of the largest body's length exceeds the memory for backtracking. */
function isBeyond(pattern: RegExp, letters: Letters): boolean {
  let last = Infinity;
  for (let length = longest / 512; length <= longest; length *= 8) {
    try {
      const text = textOf(letters, length);
      const took = processorMs(() => run(pattern, text));
      // Backtracking would read the whole text, which takes longer. The first run also flattened the text.
      if (length === longest / 8 && wallMs(pattern, text) < 0.1) return false;
      // For a text eight times as long a quadratic cost would be 64 times as high; the limit is 40.
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

/** Runs a pattern: all matches if it is global, else the first. */
function run(pattern: RegExp, text: string): void {
  let from = 0;
  pattern.lastIndex = 0;
  while (pattern.test(text) && (pattern.global || pattern.sticky) && from < text.length) {
    // Moves on after an empty match.
    if (pattern.lastIndex === from) pattern.lastIndex++;
    from = pattern.lastIndex;
  }
}

/** Run as a program, it reads patterns from standard input and prints their costs as JSON. */
if (import.meta.main) {
  const patterns: { source: string; flags: string }[] = JSON.parse(
    await new Response(Deno.stdin.readable).text(),
  );
  const costs = patterns.map(({ source, flags }) => worstCost(source, flags));
  // JSON has no Infinity.
  console.log(JSON.stringify(costs.map((cost) => ({
    ...cost,
    doubling: Math.min(cost.doubling, Number.MAX_VALUE),
  }))));
}
