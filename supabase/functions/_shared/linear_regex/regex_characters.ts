/** Characters of a class, as ranges of code points. */
export type Characters = readonly (readonly [number, number])[];

const last = 0x10ffff;

export function holds(set: Characters, code: number): boolean {
  return set.some(([from, to]) => code >= from && code <= to);
}

export function haveCommon(one: Characters, other: Characters): boolean {
  return one.some(([from, to]) => other.some(([low, high]) => from <= high && low <= to));
}

/** The characters that a set does not have. */
export function complement(set: Characters): Characters {
  const without: [number, number][] = [];
  let from = 0;
  for (const [low, high] of [...set].sort(([a], [b]) => a - b)) {
    if (low > from) without.push([from, low - 1]);
    from = Math.max(from, high + 1);
  }
  return from > last ? without : [...without, [from, last]];
}

/** `a-z_`: ranges and characters without escapes. */
const listed = (text: string): Characters =>
  [...text.matchAll(/([\s\S])-([\s\S])|[\s\S]/gu)].map(([one, from, to]) => [
    (from ?? one).codePointAt(0)!,
    (to ?? one).codePointAt(0)!,
  ]);

/** What Go means by `\d` and `[:alpha:]`: ASCII only. `\s` has no vertical tab there. */
const named: Record<string, Characters> = {
  d: listed("0-9"),
  s: listed("\t\n\f\r "),
  w: listed("0-9A-Za-z_"),
  alnum: listed("0-9A-Za-z"),
  alpha: listed("A-Za-z"),
  blank: listed("\t "),
  digit: listed("0-9"),
  lower: listed("a-z"),
  punct: listed("!-/:-@[-`{-~"),
  space: listed("\t-\r "),
  upper: listed("A-Z"),
  word: listed("0-9A-Za-z_"),
  xdigit: listed("0-9A-Fa-f"),
};

/** The set of `d`, `D`, `alpha` or `^alpha`; undefined for another name. */
export function namedCharacters(name: string): Characters | undefined {
  const isNegative = /^(?:[DSW]$|\^)/.test(name);
  const plain = isNegative ? name.replace("^", "").toLowerCase() : name;
  if (!Object.hasOwn(named, plain)) return undefined;
  return isNegative ? complement(named[plain]) : named[plain];
}

/** A set with its characters in the other letter case. */
export function folded(set: Characters): Characters {
  // [^a] has nearly all characters: what it lacks is folded instead.
  if (holds(set, last)) return complement(folded(complement(set)));
  return set.flatMap(([from, to]) => {
    const more: [number, number][] = [[from, to]];
    for (let code = from; code <= to; code++) {
      const text = String.fromCodePoint(code);
      for (const other of [text.toLowerCase(), text.toUpperCase()]) {
        const found = other.codePointAt(0)!;
        if (found !== code && other === String.fromCodePoint(found)) more.push([found, found]);
      }
    }
    return more;
  });
}

/** `[a-z]` or one character, in the syntax of our query language. */
export function writtenCharacters(set: Characters): string {
  if (set.length === 1 && set[0][0] === set[0][1]) return written(set[0][0]);
  const isNegative = holds(set, last);
  const ranges = (isNegative ? complement(set) : set).map(([from, to]) =>
    from === to ? written(from) : `${written(from)}-${written(to)}`
  );
  // Every character: there is no class of none.
  if (ranges.length === 0) return ".";
  return `[${isNegative ? "^" : ""}${ranges.join("")}]`;
}

function written(code: number): string {
  return String.fromCodePoint(code).replace(/^[!-/:-@[-`{-~]$/, "\\$&");
}
