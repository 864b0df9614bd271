/** Whether the service accepts this regular expression, the text between the quotes. */
export function isRegex(source: string): boolean {
  const chars = [...source.replace(/\\"/g, '"')];
  if ([...source].length > 256) return false;
  const isFolded = chars.slice(0, 4).join("") === "(?i)";
  const end = alternatives(isFolded ? chars.slice(4) : chars, 0);
  return end !== null && end === (isFolded ? chars.length - 4 : chars.length);
}

/** The names of an expression's groups, or null if `extract_regexp` does not accept it. */
export function namedGroups(source: string): string[] | null {
  const names: string[] = [];
  let isLazy = false;
  const parts =
    /\\[\s\S]|\[(?:\[:[a-z]+:\]|[^\]\\]|\\[\s\S])*\]|\(\?P?<([A-Za-z_]\w{0,59})>|[*+?}]\?/g;
  const plain = source.replace(parts, (part, name?: string) => {
    if (name !== undefined) names.push(name);
    else if (/^[*+?}]\?$/.test(part)) isLazy = true;
    return name === undefined ? part : "(";
  });
  return !isLazy && [...source].length <= 256 && isRegex(plain) ? names : null;
}

/** Letters that may follow a backslash, besides punctuation. */
const known = /[dwsDWSntr]/;
const named = new Set("alpha digit alnum upper lower space blank punct xdigit word".split(" "));

/** The position after what a function read, or null if it is invalid. */
type End = number | null;

function alternatives(chars: string[], from: number): End {
  let at = from;
  while (at < chars.length && chars[at] !== ")") {
    const c = chars[at] ?? "";
    if (c === "|" || c === "^" || c === "$") at += 1;
    else if (c === "\\" && chars[at + 1] === "b") at += 2;
    else if (/[*+?{]/.test(c)) return null;
    else {
      const after = atom(chars, at);
      const end = after === null ? null : quantifier(chars, after);
      if (end === null) return null;
      at = end;
    }
  }
  return at;
}

function atom(chars: string[], from: number): End {
  const c = chars[from];
  if (c === "(") {
    const isMarked = chars[from + 1] === "?";
    if (isMarked && chars[from + 2] !== ":") return null;
    const end = alternatives(chars, from + (isMarked ? 3 : 1));
    return end !== null && chars[end] === ")" ? end + 1 : null;
  }
  if (c === "[") return charClass(chars, from);
  if (c !== "\\") return from + 1;
  const escaped = chars[from + 1];
  if (escaped === undefined) return null;
  return known.test(escaped) || !/[0-9A-Za-z]/.test(escaped) ? from + 2 : null;
}

function charClass(chars: string[], from: number): End {
  const whole = /^\[(?:\[:[a-z]+:\]|[^\]\\]|\\.)*\]/su.exec(chars.slice(from).join(""))?.[0];
  if (whole === undefined) return null;
  const end = from + [...whole].length - 1;
  let at = from + (chars[from + 1] === "^" ? 2 : 1);
  if (at === end) return null;
  while (at < end) {
    const low = classItem(chars, at, end);
    if (low === null) return null;
    at = low.end;
    if (chars[at] !== "-" || at + 1 >= end) continue;
    const high = classItem(chars, at + 1, end);
    if (low.char === null || high === null || high.char === null) return null;
    if ((low.char.codePointAt(0) ?? 0) > (high.char.codePointAt(0) ?? 0)) return null;
    at = high.end;
  }
  return end + 1;
}

/** Reads one item of a class. `char` is null for a set such as \d. */
function classItem(
  chars: string[],
  at: number,
  end: number,
): { char: string | null; end: number } | null {
  const c = chars[at] ?? "";
  const name = /^\[:([a-z]+):\]/.exec(chars.slice(at, end).join(""));
  if (name) return named.has(name[1] ?? "") ? { char: null, end: at + name[0].length } : null;
  if (c === "[") return null;
  if (c !== "\\") return { char: c, end: at + 1 };
  const escaped = chars[at + 1] ?? "";
  if (known.test(escaped)) return { char: null, end: at + 2 };
  return /[0-9A-Za-z]/.test(escaped) ? null : { char: escaped, end: at + 2 };
}

function quantifier(chars: string[], at: number): End {
  const c = chars[at];
  if (c === "*" || c === "+" || c === "?") return lazy(chars, at + 1);
  if (c !== "{") return at;
  const match = /^\{(\d{1,3})(,(\d{0,3}))?\}/.exec(chars.slice(at, at + 12).join(""));
  if (!match) return null;
  const least = Number(match[1]);
  const most = match[3] ? Number(match[3]) : least;
  return least > 100 || most > 100 || least > most ? null : lazy(chars, at + match[0].length);
}

function lazy(chars: string[], at: number): number {
  return chars[at] === "?" ? at + 1 : at;
}
