import { count, signed } from "./format-number.ts";
import { say } from "./translate.ts";

/** An increase of at least this many is more than chance, even if there was nothing before. */
const leastIncrease = 5;

/**
 * The change from before to now in words: "new", "×3", "+40%", "as yesterday", "none any more". Null if both are 0.
 * `isMuchMore`: at least twice as many.
 */
export function changeOf(now: number, before: number) {
  if (now === 0 && before === 0) return null;
  const isMuchMore = now >= 2 * before && now - before >= leastIncrease;
  return { words: wordsOf(now, before), isMuchMore };
}

/** Whether a part of the range, which has few records, has at least twice as many and more than chance explains. */
export const isSudden = (now: number, before: number): boolean =>
  now >= 2 * before && now - before >= Math.max(leastIncrease, 4 * Math.sqrt(now + before));

function wordsOf(now: number, before: number): string {
  if (before === 0) return say("new");
  if (now === 0) return say("none any more");
  const times = now / before;
  if (times >= 1.95) return `×${count(times)}`;
  return times > 0.8 && times < 1.25 ? say("as yesterday") : signed.format(times - 1);
}
