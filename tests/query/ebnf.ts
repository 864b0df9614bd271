import { fieldKinds } from "../../supabase/functions/_shared/record_fields.ts";

// Reads the grammar from docs/reference/query-language.md and checks queries against it. It tries every possible parse,
// so the result depends only on the documented grammar.

type Expression =
  | { kind: "text"; text: string }
  | { kind: "rule"; name: string }
  | { kind: "words"; words: string }
  | { kind: "choice" | "sequence"; items: Expression[] }
  | { kind: "optional" | "repeated"; item: Expression }
  | { kind: "except"; item: Expression; unless: Expression }
  | { kind: "times"; count: number; item: Expression };

interface Rule {
  expression: Expression;
  /** White space is allowed between the parts of a phrase, not between the parts of a word. */
  isPhrase: boolean;
}

/**
 * Recognizes the parts that the grammar describes in words. Each function returns the end of a part that begins at
 * `at`, or -1.
 */
const inWords: Record<string, (text: string[], at: number) => number> = {
  "a character": (text, at) => at < text.length ? at + 1 : -1,
  'a character but white space, ( ) [ ] { } " | and \\': (text, at) =>
    at < text.length && !/[ \t\r\n\u00a0()[\]{}"|\\]/.test(text[at]) ? at + 1 : -1,
  'a character but " and \\': (text, at) =>
    at < text.length && !/["\\]/.test(text[at]) ? at + 1 : -1,
  "a letter or digit of any script, _ or -": (text, at) =>
    /^[\p{L}\p{Nd}_-]$/u.test(text[at] ?? "") ? at + 1 : -1,
  "one of the fields, but for attrs": (text, at) => {
    const name = text.slice(at).join("").match(/^\w+/)?.[0] ?? "";
    return name !== "attrs" && Object.hasOwn(fieldKinds, name) ? at + name.length : -1;
  },
  "a to z, A to Z or _": (text, at) => /^[A-Za-z_]$/.test(text[at] ?? "") ? at + 1 : -1,
  "0 to 9": (text, at) => /^[0-9]$/.test(text[at] ?? "") ? at + 1 : -1,
  "no white space follows": (text, at) => isBlank(text[at]) ? -1 : at,
  "no = follows": (text, at) => text[at] === "=" ? -1 : at,
  "no letter, digit, _ or . follows": (text, at) =>
    /^[A-Za-z0-9_.]$/.test(text[at] ?? "") ? -1 : at,
  "white space, a bracket, | or the end follows": (text, at) => isEnd(text[at]) ? at : -1,
  "white space, one of ( ) | , < > = ! or the end follows": (text, at) =>
    isBlank(text[at]) || /^[()|,<>=!]?$/.test(text[at] ?? "") ? at : -1,
};

const isBlank = (c: string | undefined) => c !== undefined && /[ \t\r\n\u00a0]/.test(c);
const isEnd = (c: string | undefined) => isBlank(c) || /^[()[\]{}|]?$/.test(c ?? "");

/** Returns a function that says whether a text is a query by the grammar in the page's code blocks. */
export function readGrammar(page: string): (query: string) => boolean {
  const blocks = [...page.matchAll(/^```ebnf\n([\s\S]*?)^```/gm)].map(([, block]) => block);
  if (blocks.length !== 2) throw new Error("the page has two blocks: phrases, then words");
  const rules = new Map(blocks.flatMap((block, i) => readRules(block, i === 0)));
  const named = blocks.join("\n").match(/\?[^?\n]*\?/g) ?? [];
  const unknown = named.filter((words) => !(words.slice(1, -1).trim() in inWords));
  if (unknown.length > 0) throw new Error(`inWords lacks ${unknown.join(", ")}`);
  return (query) => new Reading(rules, [...query]).takes("query");
}

function readRules(block: string, isPhrase: boolean): [string, Rule][] {
  const source = block.replace(/\(\*.*?\*\)/g, "");
  const tokens = source.match(/"[^"]*"|'[^']*'|\?[^?]*\?|[a-z][a-z-]*|\d+|[^\s]/g) ?? [];
  let at = 0;
  const take = (text: string) => tokens[at] === text && (at++, true);
  const need = (text: string) => {
    if (!take(text)) throw new Error(`${text} is missing before ${tokens.slice(at, at + 5)}`);
  };
  const choice = (): Expression => {
    const items = [sequence()];
    while (take("|")) items.push(sequence());
    return items.length === 1 ? items[0] : { kind: "choice", items };
  };
  const sequence = (): Expression => {
    const items = [factor()];
    while (at < tokens.length && !/^[|)\]};]$/.test(tokens[at])) items.push(factor());
    return items.length === 1 ? items[0] : { kind: "sequence", items };
  };
  const factor = (): Expression => {
    const item = primary();
    return take("-") ? { kind: "except", item, unless: primary() } : item;
  };
  const primary = (): Expression => {
    const token = tokens[at++];
    if (/^\d+$/.test(token)) {
      need("*");
      return { kind: "times", count: Number(token), item: primary() };
    }
    if (token === "(" || token === "[" || token === "{") {
      const item = choice();
      need({ "(": ")", "[": "]", "{": "}" }[token]);
      if (token === "(") return item;
      return { kind: token === "[" ? "optional" : "repeated", item };
    }
    if (token[0] === "?") return { kind: "words", words: token.slice(1, -1).trim() };
    if (/^["']/.test(token)) return { kind: "text", text: token.slice(1, -1) };
    if (!/^[a-z]/.test(token)) throw new Error(`a part is missing before ${token}`);
    return { kind: "rule", name: token };
  };
  const rules: [string, Rule][] = [];
  while (at < tokens.length) {
    const name = tokens[at++];
    need("=");
    rules.push([name, { expression: choice(), isPhrase }]);
    need(";");
  }
  return rules;
}

class Reading {
  /** Remembers the ends of each rule by its name and beginning, so that each is tried once. */
  readonly #known = new Map<string, ReadonlySet<number>>();

  constructor(readonly rules: Map<string, Rule>, readonly text: string[]) {}

  takes(name: string): boolean {
    const ends = this.#rule(name, this.#skip(0));
    return [...ends].some((end) => this.#skip(end) === this.text.length);
  }

  #skip(at: number): number {
    while (isBlank(this.text[at])) at++;
    return at;
  }

  #rule(name: string, at: number): ReadonlySet<number> {
    const key = `${name} ${at}`;
    const known = this.#known.get(key);
    if (known) return known;
    const rule = this.rules.get(name);
    if (!rule) throw new Error(`the grammar has no rule ${name}`);
    const ends = this.#ends(rule.expression, at, rule.isPhrase);
    this.#known.set(key, ends);
    return ends;
  }

  /** Returns all positions where an expression that begins at `at` may end. */
  #ends(expression: Expression, at: number, isPhrase: boolean): ReadonlySet<number> {
    switch (expression.kind) {
      case "text":
        return this.#literal(expression.text, at, isPhrase);
      case "rule":
        return this.#rule(expression.name, at);
      case "words": {
        const end = inWords[expression.words](this.text, at);
        return new Set(end < 0 ? [] : [end]);
      }
      case "choice":
        return new Set(expression.items.flatMap((item) => [...this.#ends(item, at, isPhrase)]));
      case "sequence":
        return expression.items.reduce<ReadonlySet<number>>(
          (ends, item, i) => this.#after(ends, item, isPhrase, i > 0),
          new Set([at]),
        );
      case "optional":
        return new Set([at, ...this.#ends(expression.item, at, isPhrase)]);
      case "times": {
        let ends: ReadonlySet<number> = new Set([at]);
        for (let n = 0; n < expression.count; n++) {
          ends = this.#after(ends, expression.item, isPhrase, n > 0);
        }
        return ends;
      }
      case "repeated": {
        const all = new Set([at]);
        let last: ReadonlySet<number> = all;
        for (let n = 0; last.size > 0; n++) {
          const next = [...this.#after(last, expression.item, isPhrase, n > 0)];
          last = new Set(next.filter((end) => !all.has(end)));
          for (const end of last) all.add(end);
        }
        return all;
      }
      case "except": {
        const unless = this.#ends(expression.unless, at, isPhrase);
        return new Set(
          [...this.#ends(expression.item, at, isPhrase)].filter((end) => !unless.has(end)),
        );
      }
    }
  }

  #after(ends: ReadonlySet<number>, item: Expression, isPhrase: boolean, isFurther: boolean) {
    const starts = [...ends].map((end) => isPhrase && isFurther ? this.#skip(end) : end);
    return new Set(starts.flatMap((start) => [...this.#ends(item, start, isPhrase)]));
  }

  /** A word of a phrase, such as "OR", must be a whole word. */
  #literal(text: string, at: number, isPhrase: boolean): ReadonlySet<number> {
    const end = at + text.length;
    const isThere = [...text].every((c, i) => this.text[at + i] === c);
    const isWhole = !isPhrase || !/[A-Za-z]$/.test(text) || isEnd(this.text[end]);
    return new Set(isThere && isWhole ? [end] : []);
  }
}
