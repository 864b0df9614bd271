import { fold, QueryError } from "./event.ts";

/**
 * Runs the query language's regular expressions with JavaScript's. Characters are code points; `position` is the
 * position of the first one. Only the compiler limits complexity.
 */
export function compileRegex(source: string[], position: number): (text: string) => boolean {
  const { regex, folded } = readRegex(source, position, null);
  return (text) => regex.test(folded ? fold(text) : text);
}

/** Reads an expression. With `names`, groups may have names, which are added to this list. */
export function readRegex(
  source: string[],
  position: number,
  names: string[] | null,
): { regex: RegExp; folded: boolean } {
  const folded = source.slice(0, 4).join("") === "(?i)";
  const chars = folded ? source.slice(4) : source;
  const first = folded ? position + 4 : position;
  let at = 0;
  const fail = (where: number, message: string): never => {
    throw new QueryError(first + where, message);
  };
  if (source.length > 256) throw new QueryError(position + 256, "too long");

  const literal = (c: string) => {
    const shown = folded ? fold(c) : c;
    return /[!-/:-@[-`{-~]/.test(shown) ? `\\u{${shown.codePointAt(0)?.toString(16)}}` : shown;
  };
  const sets: Record<string, string> = {
    d: "0-9",
    w: "0-9A-Za-z_",
    s: " \\t\\n\\r\\f\\v",
    D: "\\u{1}-\\/:-\\u{10ffff}",
    W: "\\u{1}-\\/:-@\\[-\\^`\\{-\\u{10ffff}",
    S: "\\u{1}-\\u{8}\\u{e}-\\u{1f}!-\\u{10ffff}",
    n: "\\n",
    t: "\\t",
    r: "\\r",
  };
  const named: Record<string, string> = {
    alpha: "A-Za-z",
    digit: "0-9",
    alnum: "0-9A-Za-z",
    upper: folded ? "A-Za-z" : "A-Z",
    lower: "a-z",
    space: " \\t\\n\\r\\f\\v",
    blank: " \\t",
    punct: "!-\\/:-@\\[-`\\{-~",
    xdigit: "0-9A-Fa-f",
    word: "0-9A-Za-z_",
  };

  function charClass(): string {
    const start = at;
    const whole = /^\[(?:\[:[a-z]+:\]|[^\]\\]|\\.)*\]/su.exec(chars.slice(at).join(""))?.[0];
    if (whole === undefined) return fail(start, "class not closed");
    const end = start + [...whole].length - 1;
    at++;
    const negated = chars[at] === "^";
    if (negated) at++;
    if (at === end) fail(start, "empty class");
    let out = "";
    const item = (): { set?: string; char: string; where: number } => {
      const where = at;
      const name = /^\[:([a-z]+):\]/.exec(chars.slice(at, end).join(""));
      if (name) {
        if (!Object.hasOwn(named, name[1])) fail(where, "no such class");
        at += name[0].length;
        return { set: named[name[1]], char: "", where };
      }
      const c = chars[at++];
      if (c === "[") fail(where, "[ in a class");
      if (c !== "\\") return { char: c, where };
      const escaped = chars[at++];
      if (escaped in sets) return { set: sets[escaped], char: escaped, where };
      if (/[0-9A-Za-z]/.test(escaped)) fail(where, "escape in a class");
      return { char: escaped, where };
    };
    while (at < end) {
      const low = item();
      if (chars[at] === "-" && at + 1 < end) {
        at++;
        if (low.set !== undefined) fail(low.where, "set in a range");
        if (chars[at] === "[" || (chars[at] === "\\" && /[0-9A-Za-z]/.test(chars[at + 1]))) {
          fail(low.where, "set in a range");
        }
        const high = item();
        const [from, to] = [low.char.codePointAt(0) ?? 0, high.char.codePointAt(0) ?? 0];
        if (from > to) fail(low.where, "backwards");
        out += `\\u{${from.toString(16)}}-\\u{${to.toString(16)}}`;
        if (folded) {
          for (let c = from; c <= to; c++) {
            if (c < 0xd800 || c > 0xdfff) out += literal(String.fromCodePoint(c));
          }
        }
      } else {
        out += low.set ?? literal(low.char);
      }
    }
    at = end + 1;
    return `[${negated ? "^" : ""}${out}]`;
  }

  /** Returns the next atom, or undefined if the next part cannot be repeated. */
  function atom(): string | undefined {
    const where = at;
    const c = chars[at];
    if (c === "(") {
      let opens = "(?:";
      if (chars[at + 1] === "?") {
        const name = /^\(\?P?<([A-Za-z_]\w{0,59})>/.exec(chars.slice(at).join(""));
        if (names !== null && name) {
          names.push(name[1]);
          at += name[0].length;
          opens = "(";
        } else {
          if (chars[at + 2] !== ":") fail(where, "lookaround or options");
          at += 3;
        }
      } else at++;
      const inner = alternatives();
      if (chars[at] !== ")") fail(where, "group not closed");
      at++;
      return `${opens}${inner})`;
    }
    if (c === "[") return charClass();
    if (c === "\\") {
      const escaped = chars[at + 1];
      if (escaped === "b") return undefined;
      at += 2;
      if (escaped in sets) return `[${sets[escaped]}]`;
      if (/[0-9A-Za-z]/.test(escaped)) fail(where, "escape");
      return literal(escaped);
    }
    at++;
    return c === "." ? "." : literal(c);
  }

  function quantifier(): string {
    const where = at;
    const repeat = repetition();
    if (repeat !== "" && chars[at] === "?" && names !== null) fail(where, "lazy");
    // Whether a text matches does not depend on laziness.
    if (repeat !== "" && chars[at] === "?") at++;
    return repeat;
  }

  function repetition(): string {
    const c = chars[at];
    if (c === "*" || c === "+" || c === "?") {
      at++;
      return c;
    }
    if (c !== "{") return "";
    const match = /^\{(\d{1,3})(,(\d{0,3}))?\}/.exec(chars.slice(at).join(""));
    if (!match) return fail(at, "repeat");
    const least = Number(match[1]);
    const most = match[3] ? Number(match[3]) : least;
    if (least > 100 || most > 100 || least > most) fail(at, "repeat");
    at += match[0].length;
    return match[0];
  }

  function alternatives(): string {
    let out = "";
    while (at < chars.length && chars[at] !== ")") {
      const c = chars[at];
      if (c === "|" || c === "^" || c === "$") {
        out += c;
        at++;
      } else if (c === "\\" && chars[at + 1] === "b") {
        out += "\\b";
        at += 2;
      } else if (c === "*" || c === "+" || c === "?" || c === "{") {
        fail(at, "nothing to repeat");
      } else {
        out += `${atom()}${quantifier()}`;
      }
    }
    return out;
  }

  const pattern = alternatives();
  if (at < chars.length) fail(at, ") closes nothing");
  // Flag v, because with flag u V8 (Deno 2.9) does not find 👍 by [!-\u{10ffff}]$.
  return { regex: new RegExp(pattern, "svd"), folded };
}
