import { refuse } from "./loki_error.ts";

/**
 * Whether an expression matches a short text: a level, or an absent label's empty text. An expression could keep
 * JavaScript's RegExp busy without limit; here each part is tried once at each position.
 */
export function matchesWhole(pattern: string, text: string, isFolded: boolean): boolean {
  const root = parsed(pattern, isFolded);
  return (root(text, 0) & 1 << text.length) !== 0;
}

/** The positions, as bits, where a part that begins at `at` can end. Texts are shorter than 30. */
type Part = (text: string, at: number) => number;

/** The longest expression in our query language. */
const maxCharacters = 256;

function parsed(pattern: string, isFolded: boolean): Part {
  if (pattern.length > maxCharacters) {
    refuse(`error parsing regexp: longer than ${maxCharacters} characters`);
  }
  let at = 0;

  function alternatives(): Part {
    const parts = [sequence()];
    while (pattern[at] === "|") {
      at += 1;
      parts.push(sequence());
    }
    return once((text, from) => parts.reduce((ends, part) => ends | part(text, from), 0));
  }

  function sequence(): Part {
    const parts: Part[] = [];
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      parts.push(repeated(atom()));
    }
    return once((text, from) => parts.reduce((ends, part) => after(part, text, ends), 1 << from));
  }

  function repeated(part: Part): Part {
    const [found, sign, least, , most] =
      /^(?:([*+?])|\{([0-9]+)(,([0-9]*))?\})\??/.exec(pattern.slice(at)) ?? [];
    if (found === undefined) return part;
    at += found.length;
    const [min, max] = sign === undefined
      ? [Number(least), most === undefined ? Number(least) : most === "" ? Infinity : Number(most)]
      : [sign === "+" ? 1 : 0, sign === "?" ? 1 : Infinity];
    return once((text, from) => {
      let ends = 1 << from;
      let all = min === 0 ? ends : 0;
      for (let n = 1; n <= max; n++) {
        const next = after(part, text, ends);
        const known = all;
        if (n >= min) all |= next;
        // Further rounds would find the same positions.
        if (next === ends || next === 0 || n > min && all === known) {
          if (next === ends) all |= next;
          break;
        }
        ends = next;
      }
      return all;
    });
  }

  function atom(): Part {
    const rest = pattern.slice(at);
    const [group] = /^\((?:\?:|\?P?<\w+>)?/.exec(rest) ?? [];
    if (group !== undefined && !rest.startsWith("(?", group.length - 1)) {
      at += group.length;
      const inner = alternatives();
      if (pattern[at] !== ")") return refuse("error parsing regexp: missing closing )");
      at += 1;
      return inner;
    }
    const [found] = /^(?:\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\\[\s\S]|[^*+?(){[\\])/u
      .exec(rest) ?? [refuse(`error parsing regexp: ${rest} is not understood here`)];
    at += found.length;
    if (found === "^") return (_text, from) => from === 0 ? 1 : 0;
    if (found === "$") return (text, from) => from === text.length ? 1 << from : 0;
    return (text, from) =>
      from < text.length && oneOf(found, isFolded).test(text[from]) ? 1 << from + 1 : 0;
  }

  const root = alternatives();
  return at === pattern.length ? root : refuse("error parsing regexp: unexpected )");
}

/** A RegExp for one character, which takes constant time. */
function oneOf(source: string, isFolded: boolean): RegExp {
  if (/^\\(?![dDwWsSntr])[0-9A-Za-z]|\[:/.test(source)) {
    refuse(`error parsing regexp: ${source} is not understood here`);
  }
  try {
    return new RegExp(`^${source}$`, isFolded ? "is" : "s");
  } catch {
    return refuse(`error parsing regexp: ${source} is not understood here`);
  }
}

function after(part: Part, text: string, ends: number): number {
  let next = 0;
  for (let at = 0; at <= text.length; at++) {
    if ((ends & 1 << at) !== 0) next |= part(text, at);
  }
  return next;
}

/** Remembers a part's result at each position. */
function once(part: Part): Part {
  const known = new Map<number, number>();
  return (text, at) => {
    const ends = known.get(at) ?? part(text, at);
    known.set(at, ends);
    return ends;
  };
}
