import type { Event } from "./events.ts";

/**
 * Makes unique events of the same kinds: replaces numbers, hex words, addresses, pids, byte counts and ids by random
 * ones of the same length, so that no layout profits from copies. Level, service, template, component, status and agent
 * stay.
 */
export function* drawnAnew(events: Event[], count: number, seed = 1): Generator<Event> {
  const random = seededRandom(seed);
  for (let n = 0; n < count; n++) yield redraw(events[n % events.length], random);
}

/** mulberry32, a small and fast generator, gives the same numbers on every machine. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** An address, a hex word with a digit, or a number with two or more digits. */
const drawn =
  /\b\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}\b|(?=[0-9a-fA-F-]*\d)(?=[0-9-]*[a-fA-F])\b[0-9a-fA-F]{4,}(?:-[0-9a-fA-F]{4,})*\b|\d{2,}/g;

const kinds = new Set(["status", "method", "user_agent", "referer", "template", "component"]);

function redraw(event: Event, random: () => number): Event {
  const attrs = event.attrs as Record<string, unknown> | undefined;
  const again = new Map<string, string>();
  // A word that an event repeats gets the same replacement each time. The status in a message stays equal to the one in
  // attrs.
  if (attrs?.status !== undefined) again.set(String(attrs.status), String(attrs.status));
  const text = (value: string) =>
    value.replace(drawn, (word) => {
      const known = again.get(word);
      if (known !== undefined) return known;
      const made = redrawWord(word, random);
      again.set(word, made);
      return made;
    });
  const result: Event = { ...event };
  for (const field of ["msg", "req_id", "user_id", "route"]) {
    if (typeof event[field] === "string") result[field] = text(event[field]);
  }
  if (attrs) {
    result.attrs = Object.fromEntries(
      Object.entries(attrs).map(([key, value]) => {
        if (kinds.has(key)) return [key, value];
        if (typeof value === "string") return [key, text(value)];
        if (typeof value === "number") return [key, Number(redrawWord(String(value), random))];
        return [key, value];
      }),
    );
  }
  return result;
}

function redrawWord(word: string, random: () => number): string {
  const digit = (digits: string) => digits[Math.floor(random() * digits.length)];
  if (/^\d{1,3}(\.\d{1,3}){3}$/.test(word)) {
    return Array.from({ length: 4 }, () => 1 + Math.floor(random() * 254)).join(".");
  }
  return word.replace(/[0-9a-fA-F]/g, (char, at) => {
    if (/^[-.\d]+$/.test(word)) return digit(at === 0 ? "123456789" : "0123456789");
    if (/\d/.test(char) && /[A-F]/.test(word)) return digit("0123456789ABCDEF");
    if (/[A-F]/.test(char)) return digit("0123456789ABCDEF");
    return digit("0123456789abcdef");
  });
}
