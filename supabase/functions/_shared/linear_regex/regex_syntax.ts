import {
  type Characters,
  complement,
  haveCommon,
  namedCharacters,
  writtenCharacters,
} from "./regex_characters.ts";

/** A part of a regular expression in Go's syntax. */
export type Part =
  | { readonly kind: "one"; readonly set: Characters }
  | { readonly kind: "at"; readonly sign: string }
  | { readonly kind: "all" | "any"; readonly parts: readonly Part[] }
  | { readonly kind: "group"; readonly part: Part; readonly number: number }
  | {
    readonly kind: "repeat";
    readonly part: Part;
    readonly least: number;
    readonly most: number;
    readonly isLazy: boolean;
  };

const maxCharacters = 1000;
/** The most repeats and characters of an expression in our own language. */
const maxRepeat = 100;
const maxWritten = 256;

const controls: Record<string, string> = { a: "\x07", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

const any = (parts: readonly Part[]): Part =>
  parts.length === 1 ? parts[0] : { kind: "any", parts };
const all = (parts: readonly Part[]): Part =>
  parts.length === 1 ? parts[0] : { kind: "all", parts };
const single = (text: string): Characters => [[text.codePointAt(0)!, text.codePointAt(0)!]];
const anything = complement([]);
const anyButBreak = complement([[10, 10]]);

const isSet = (text: string) => /^\\[dDsSwW]$/.test(text);

/** Thrown for an expression that is refused. */
export class RegexError extends Error {}

export type Refuse = (message: string) => never;

export const refuseRegex: Refuse = (message) => {
  throw new RegexError(message);
};

export interface Parsed {
  readonly root: Part;
  readonly names: readonly string[];
  readonly isFolded: boolean;
}

/** Parses an expression. `isWhole`: it must match all of a text, and `.` is also a line break. */
export function parsedRegex(pattern: string, isWhole: boolean, refuse = refuseRegex): Parsed {
  const fail: Refuse = (what) => refuse(`error parsing regexp: ${what}`);
  if (pattern.length > maxCharacters) fail(`longer than ${maxCharacters} characters`);
  const [flags] = /^(?:\(\?[is]+\))*/.exec(pattern) ?? [""];
  const dot = isWhole || flags.includes("s") ? anything : anyButBreak;
  const names: string[] = [];
  let at = flags.length;

  function alternatives(): Part {
    const parts = [sequence()];
    while (pattern[at] === "|") {
      at += 1;
      parts.push(sequence());
    }
    return any(parts);
  }

  function sequence(): Part {
    const parts: Part[] = [];
    while (at < pattern.length && pattern[at] !== "|" && pattern[at] !== ")") {
      parts.push(repeated(atom()));
    }
    return all(parts);
  }

  function repeated(part: Part): Part {
    const [found, sign, least, comma, most] =
      /^(?:([*+?])|\{([0-9]+)(,([0-9]*))?\})\??/.exec(pattern.slice(at)) ?? [];
    if (found === undefined) return part;
    at += found.length;
    const isLazy = found.length > 1 && found.endsWith("?");
    const bounds = sign === undefined
      ? {
        least: Number(least),
        most: comma === undefined ? Number(least) : most === "" ? Infinity : Number(most),
      }
      : { least: sign === "+" ? 1 : 0, most: sign === "?" ? 1 : Infinity };
    if (bounds.least > 1000 || bounds.most < bounds.least || bounds.most > 1000 && most !== "") {
      if (sign === undefined) fail(`invalid repeat count: ${found}`);
    }
    if (/^(?:[*+?]|\{[0-9]+(?:,[0-9]*)?\})/.test(pattern.slice(at))) {
      fail(`invalid nested repetition operator: ${found}${pattern[at]}`);
    }
    return { kind: "repeat", part, ...bounds, isLazy };
  }

  function atom(): Part {
    const rest = pattern.slice(at);
    const [group, name] = /^\((?:\?:|\?P?<([A-Za-z_]\w*)>|(?!\?))/.exec(rest) ?? [];
    if (group !== undefined) {
      at += group.length;
      const number = group === "(?:" ? 0 : names.push(name ?? "");
      const part = alternatives();
      if (pattern[at] !== ")") fail("missing closing )");
      at += 1;
      return number === 0 ? part : { kind: "group", part, number };
    }
    const [found] = /^(?:\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]|\\[\s\S]|[^*+?()[\\])/u
      .exec(rest) ?? [fail(`${rest} is not understood here`)];
    at += found.length;
    if (found === "^" || found === "$") return { kind: "at", sign: found };
    if (/^\\[AzbB]$/.test(found)) {
      return {
        kind: "at",
        sign: ({ A: "^", z: "$" } as Record<string, string>)[found[1]] ?? found[1],
      };
    }
    if (found === ".") return { kind: "one", set: dot };
    if (found.startsWith("[")) return { kind: "one", set: classOf(found) };
    return { kind: "one", set: found.startsWith("\\") ? escaped(found) : single(found) };
  }

  function escaped(text: string): Characters {
    if (isSet(text)) return namedCharacters(text[1])!;
    if (Object.hasOwn(controls, text[1])) return single(controls[text[1]]);
    if (/^\\[0-9A-Za-z]/.test(text)) fail(`${text} is not understood here`);
    return single(text.slice(1));
  }

  function classOf(text: string): Characters {
    const isNegative = text.startsWith("[^");
    const items = text.slice(isNegative ? 2 : 1, -1)
      .matchAll(/\[:(\^?\w+):\]|(\\[\s\S]|[\s\S])(?:-(\\[\s\S]|[^\]]))?/gu);
    const set = [...items].flatMap(([whole, name, from, to]): Characters => {
      if (name !== undefined) {
        return namedCharacters(name) ?? fail(`${whole} is not understood here`);
      }
      const [low, high] = [from, to ?? from].map((item) =>
        item.startsWith("\\") ? escaped(item) : single(item)
      );
      if (to === undefined) return low;
      if (isSet(from) || isSet(to) || low[0][0] > high[0][1]) {
        fail(`invalid character class range: ${whole}`);
      }
      return [[low[0][0], high[0][1]]];
    });
    return isNegative ? complement(set) : set;
  }

  const inner = alternatives();
  if (at < pattern.length) fail("unexpected )");
  const [start, end]: Part[] = ["^", "$"].map((sign) => ({ kind: "at", sign }));
  const root = isWhole ? all([start, inner, end]) : inner;
  return { root, names, isFolded: flags.includes("i") };
}

/** Whether a part can match without a character. */
function isEmpty(part: Part): boolean {
  switch (part.kind) {
    case "one":
      return false;
    case "at":
      return true;
    case "all":
      return part.parts.every(isEmpty);
    case "any":
      return part.parts.some(isEmpty);
    case "group":
      return isEmpty(part.part);
    case "repeat":
      return part.least === 0 || isEmpty(part.part);
  }
}

/** The characters with which parts can begin. */
function beginningOf(parts: readonly Part[]): Characters {
  const [part, ...rest] = parts;
  if (part === undefined) return [];
  const own = part.kind === "one"
    ? part.set
    : part.kind === "at"
    ? []
    : "part" in part
    ? beginningOf([part.part])
    : part.kind === "all"
    ? beginningOf(part.parts)
    : part.parts.flatMap((one) => beginningOf([one]));
  return isEmpty(part) ? [...own, ...beginningOf(rest)] : own;
}

/**
 * Whether each character leaves one way to go on. Then Go, which takes the first way that matches, and PostgreSQL, which
 * takes the longest match, find the same.
 */
function hasOneWay(part: Part, after: readonly Part[]): boolean {
  switch (part.kind) {
    case "one":
      return part.set.length > 0;
    case "at":
      return part.sign !== "B";
    case "group":
      return hasOneWay(part.part, after);
    case "all":
      return part.parts.every((one, n) => hasOneWay(one, [...part.parts.slice(n + 1), ...after]));
    case "any":
      return part.parts.every((one, n) =>
        !isEmpty(one) && hasOneWay(one, after) &&
        !haveCommon(beginningOf([one]), beginningOf([any(part.parts.slice(n + 1))]))
      );
    case "repeat":
      return part.part.kind === "one" && part.part.set.length > 0 && part.least <= maxRepeat &&
        (part.most === Infinity || part.most <= maxRepeat) &&
        (part.least === part.most || !haveCommon(part.part.set, beginningOf(after)) &&
            !(part.isLazy && after.every(isEmpty)));
  }
}

/**
 * The longest text that every match has, in lower case if the expression ignores case. Empty if none is sure. A quick
 * search for it spares most texts the expression.
 */
export function requiredText({ root, isFolded }: Parsed): string {
  let longest = "";
  let run = "";
  const look = (part: Part): void => {
    if (part.kind === "all") return part.parts.forEach(look);
    if (part.kind === "group") return look(part.part);
    const [code, last] = part.kind === "one" && part.set.length === 1 ? part.set[0] : [0, 1];
    run = code === last && !(isFolded && code > 127) ? run + String.fromCodePoint(code) : "";
    if (run.length > longest.length) longest = run;
    if (part.kind !== "repeat" || part.least === 0) return;
    look(part.part);
    run = "";
  };
  look(root);
  return isFolded ? longest.toLowerCase() : longest;
}

/** Writes an expression for extract_regexp; undefined if that may find something else than Go. */
export function writtenForExtract({ root, names, isFolded }: Parsed): string | undefined {
  const write = (part: Part): string => {
    switch (part.kind) {
      case "one":
        return writtenCharacters(part.set);
      case "at":
        return part.sign === "b" ? "\\b" : part.sign;
      case "all":
        return part.parts.map(write).join("");
      case "any":
        return `(?:${part.parts.map(write).join("|")})`;
      case "group":
        return `(${names[part.number - 1] && `?P<${names[part.number - 1]}>`}${write(part.part)})`;
      case "repeat": {
        const { least, most } = part;
        const sign = least === 0 && most === 1
          ? "?"
          : most === Infinity
          ? ["*", "+"][least]
          : undefined;
        const bounds = least === most ? least : `${least},${most === Infinity ? "" : most}`;
        return write(part.part) + (sign ?? `{${bounds}}`);
      }
    }
  };
  if (isFolded || !hasOneWay(root, [])) return undefined;
  const text = write(root);
  return text.length > maxWritten || text.includes("\0") ? undefined : text;
}
