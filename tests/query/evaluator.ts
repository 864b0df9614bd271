import { textFields } from "../../supabase/functions/_shared/record_fields.ts";
import { compareText, type Event, fold, isRecord, type Json } from "./event.ts";
import { type Predicate, QueryError } from "./event.ts";
import {
  attributeOf,
  type Field,
  groupText,
  readField,
  scalarText,
  space,
  type Token,
} from "./field.ts";
import {
  compareDecimals,
  type Decimal,
  decimal,
  numberOf,
  quantityOf,
  type Unit as Measure,
} from "./decimal.ts";
import { isAddressIn, readNetwork } from "./network.ts";
import { compileRegex } from "./regex.ts";
import { Plan, readStage } from "./stages.ts";

// This is a second implementation of the query language, as simple as possible: it turns the text into a function over
// one event. It shares only the documentation with the compiler.

const brackets = new Set(["(", ")", "[", "]", "{", "}", "|"]);
export interface Query {
  matches: Predicate;
  plan: Plan;
}

/** A character of a term, or a wildcard. */
type Unit = string | { any: "one" | "many" };

interface Span {
  from: number;
  to: number;
}

/** Reads a query. `now` is in microseconds since 1970. */
export function readQuery(source: string, now: number): Query {
  const chars = [...source];
  for (let at = 0, bytes = 0; at < chars.length; at++) {
    bytes += new TextEncoder().encode(chars[at]).length;
    if (bytes > 2048) throw new QueryError(at + 1, "too long");
  }
  return new Reader(chars, now).query();
}

class Reader {
  readonly #tokens: Token[];
  #at = 0;
  #leaves = 0;
  #searched = 0;

  constructor(readonly source: string[], readonly now: number) {
    this.#tokens = tokenize(source);
  }

  query(): Query {
    let matches: Predicate = () => true;
    if (!this.#ends("|")) matches = this.#or(0);
    if (this.#is(")")) this.#refuse("closes nothing");
    const plan = new Plan();
    plan.terms = (position) => this.#leaf(position);
    while (this.#is("|")) {
      this.#at++;
      if (this.#is("where") && !plan.makesRows) {
        plan.check("where", this.#token.at);
        this.#nextApart();
        plan.rows.push({ where: this.#or(0) });
        if (this.#is(")")) this.#refuse("closes nothing");
        plan.seen("where");
      } else {
        const from = this.#tokens[this.#at - 1].at;
        while (!this.#ends("|")) this.#at++;
        const end = this.#at;
        readStage(
          plan,
          this.source.slice(from, this.#token.at - 1),
          from + 1,
          (at) => this.#condition(at),
        );
        this.#at = end;
      }
    }
    // A stage `where` before the first json or logfmt is part of the filter.
    const first = plan.rows.findIndex((stage) => "extract" in stage);
    const wheres = plan.rows.splice(0, first < 0 ? plan.rows.length : first);
    const filters = [
      matches,
      ...wheres.map((stage) => "where" in stage ? stage.where : () => true),
    ];
    return { matches: (event) => filters.every((filter) => filter(event)), plan };
  }

  /** Reads the filter in the bracket at a position; null if no token begins there. */
  #condition(position: number): { test: Predicate; end: number } | null {
    this.#at = this.#tokens.findIndex(({ at }) => at === position);
    if (this.#at < 0) return null;
    const test = this.#primary(0);
    return { test, end: this.#token.at };
  }

  get #token(): Token {
    return this.#tokens[this.#at];
  }

  #is(...texts: string[]): boolean {
    return texts.includes(this.#token.text.join(""));
  }

  #ends(...texts: string[]): boolean {
    return this.#token.text.length === 0 || this.#is(...texts);
  }

  #isQuoted(token = this.#token): boolean {
    return token.text[0] === '"';
  }

  #isTerm(): boolean {
    return !this.#ends() && !brackets.has(this.#token.text[0]);
  }

  #refuse(message: string, position = this.#token.at): never {
    throw new QueryError(position, message);
  }

  #isAdjacent(): boolean {
    const before = this.#tokens[this.#at - 1];
    return before !== undefined && before.at + before.text.length === this.#token.at;
  }

  /** Goes to the next token. If it is a term, white space or a bracket must precede it. */
  #nextApart(): void {
    this.#at++;
    if (this.#isTerm() && this.#isAdjacent()) this.#refuse("white space is missing");
  }

  #leaf(position = this.#token.at): void {
    if (this.#leaves === 64) this.#refuse("too many terms", position);
    this.#leaves++;
  }

  /** Adds a text that is searched for within others to the characters that the limit counts. */
  #search(text: { length: number }, position: number): void {
    this.#searched += text.length;
    if (this.#searched > 512) this.#refuse("too much to search for", position);
  }

  #deeper(depth: number, position: number): number {
    if (depth === 16) this.#refuse("too deep", position);
    return depth + 1;
  }

  #or(depth: number): Predicate {
    const items = [this.#and(depth)];
    while (this.#is("OR")) {
      this.#nextApart();
      items.push(this.#and(depth));
    }
    return (event) => items.some((item) => item(event));
  }

  #and(depth: number): Predicate {
    const items = [this.#not(depth)];
    while (!this.#ends("OR", ")", "|")) {
      if (this.#is("AND")) this.#nextApart();
      items.push(this.#not(depth));
    }
    return (event) => items.every((item) => item(event));
  }

  #not(depth: number): Predicate {
    const token = this.#token;
    const position = token.at;
    if (this.#is("NOT")) {
      this.#nextApart();
    } else if (token.text[0] === "-") {
      if (token.text.length === 1) {
        this.#at++;
        const follows = this.#isAdjacent() && (this.#is("(") || this.#isQuoted());
        if (!follows) this.#refuse("nothing to negate", position);
      } else {
        this.#tokens[this.#at] = { text: token.text.slice(1), at: token.at + 1 };
      }
    } else {
      return this.#primary(depth);
    }
    const item = this.#not(this.#deeper(depth, position));
    return (event) => !item(event);
  }

  #primary(depth: number): Predicate {
    if (this.#is("(")) {
      const inner = this.#deeper(depth, this.#token.at);
      this.#at++;
      const item = this.#or(inner);
      if (!this.#is(")")) this.#refuse(") is missing");
      this.#at++;
      return item;
    }
    if (!this.#isTerm() || this.#is("AND", "OR")) this.#refuse("a term is missing");
    if (this.#isQuoted()) {
      if (this.#token.text.length === 2) this.#refuse("an empty text");
      return this.#free();
    }
    return this.#word(depth);
  }

  #free(): Predicate {
    this.#leaf();
    // A * alone matches every record, also one without a message.
    const matches = this.#is("*") ? () => true : this.#term({ kind: "text", name: "msg" });
    this.#nextApart();
    return matches;
  }

  /** `field:value`, or a free term. */
  #word(depth: number): Predicate {
    const position = this.#token.at;
    const first = this.#token.text;
    const name: string[] = [];
    let colon = colonOf(first);
    if (colon < 0) {
      const quotedFollows = this.#tokens[this.#at + 1];
      const isPath = /^(@|(@.*|attrs(\..*)?)\.)$/s.test(first.join("")) &&
        this.#isQuoted(quotedFollows) && quotedFollows.at === position + first.length;
      if (!isPath) {
        if (["<", ">", "~"].includes(first[0])) this.#refuse("an operator without a field");
        return this.#free();
      }
      while (colon < 0) {
        name.push(...this.#token.text);
        this.#at++;
        if (!this.#isTerm() || !this.#isAdjacent()) this.#refuse("a colon is missing");
        colon = this.#isQuoted() ? -1 : colonOf(this.#token.text);
      }
    }
    name.push(...this.#token.text.slice(0, colon));
    if (name.length === 0) this.#refuse("a field is missing", position);
    const field = readField(name, position);

    const after = this.#token.at + colon + 1;
    const rest = this.#token.text.slice(colon + 1);
    if (rest.length > 0) {
      this.#tokens[this.#at] = { text: rest, at: after };
    } else {
      this.#at++;
      if (this.#ends(")", "]", "}", "|") || this.#token.at !== after) {
        this.#refuse("a value is missing", after);
      }
    }
    return this.#value(field, depth);
  }

  #value(field: Field, depth: number): Predicate {
    const sign = /^(=|i=|w=|)/.exec(this.#token.text.join(""))?.[0] ?? "";
    if (sign !== "") this.#takeSign(sign);
    if (this.#is("(")) return this.#anyOf(field, depth, sign);
    this.#leaf();
    const { text, at } = this.#token;
    const first = sign === "" ? text[0] : "";
    if (first === "[" || first === "{") return this.#range(field);
    if (first === ">" || first === "<") return this.#comparison(field);
    if (first === "~") {
      this.#at++;
      if (text.length > 1 || !this.#isQuoted()) this.#refuse("a regex is quoted", at);
      if (field.kind === "time" || field.kind === "id") this.#refuse("takes no regex");
      const test = compileRegex(this.#token.text.slice(1, -1), this.#token.at + 1);
      this.#nextApart();
      return (event) => textsOf(field, event).some(test);
    }
    const matches = this.#signed(field, sign);
    this.#nextApart();
    return matches;
  }

  /** Goes to the value after a sign, in the same token or the next. */
  #takeSign(sign: string): void {
    const { text, at } = this.#token;
    if (text.length === sign.length) this.#at++;
    else this.#tokens[this.#at] = { text: text.slice(sign.length), at: at + sign.length };
    const takesList = ["=", "i=", "w="].includes(sign);
    if (!this.#isTerm() && !(takesList && this.#is("("))) this.#refuse("a value is missing");
  }

  #signed(field: Field, sign: string): Predicate {
    if (sign === "") return this.#term(field);
    const token = this.#token;
    const text = textOf(token);
    if (field.kind === "time" || field.kind === "id" || field.kind === "level") {
      if (sign !== "=" || this.#is("*")) this.#refuse(`no ${sign}`);
      return this.#term(field);
    }
    if (sign === "=") return (event) => textsOf(field, event).includes(text);
    const wanted = fold(text);
    if (sign === "i=") return (event) => textsOf(field, event).some((t) => fold(t) === wanted);
    if (wanted === "") this.#refuse("an empty word");
    this.#search([...wanted], token.at);
    return (event) => textsOf(field, event).some((t) => holdsWord(fold(t), wanted));
  }

  #anyOf(field: Field, depth: number, sign: string): Predicate {
    this.#deeper(depth, this.#token.at);
    this.#at++;
    const items: Predicate[] = [];
    for (;;) {
      if (!this.#isTerm() || this.#is("AND", "OR", "NOT")) this.#refuse("a value is missing");
      this.#leaf();
      items.push(this.#signed(field, sign));
      this.#nextApart();
      if (this.#is(")")) break;
      if (this.#is("OR")) this.#nextApart();
    }
    this.#at++;
    return (event) => items.some((item) => item(event));
  }

  #range(field: Field): Predicate {
    const openLower = this.#is("{");
    this.#at++;
    if (!this.#isTerm()) this.#refuse("a bound is missing");
    const lower = this.#token;
    this.#nextApart();
    if (!this.#is("TO")) this.#refuse("TO is missing");
    this.#nextApart();
    if (!this.#isTerm()) this.#refuse("a bound is missing");
    const upper = this.#token;
    this.#nextApart();
    if (!this.#is("]", "}")) this.#refuse("not closed");
    const openUpper = this.#is("}");
    this.#at++;
    const bound = (token: Token) => (token.text.join("") === "*" ? null : token);
    return this.#between(field, bound(lower), openLower, bound(upper), openUpper, lower.at);
  }

  #comparison(field: Field): Predicate {
    const { text } = this.#token;
    const operator = text[0] + (text[1] === "=" ? "=" : "");
    this.#takeSign(operator);
    const literal = this.#token;
    this.#nextApart();
    const open = operator.length === 1;
    return text[0] === ">"
      ? this.#between(field, literal, open, null, false, literal.at)
      : this.#between(field, null, false, literal, open, literal.at);
  }

  #between(
    field: Field,
    lower: Token | null,
    openLower: boolean,
    upper: Token | null,
    openUpper: boolean,
    position: number,
  ): Predicate {
    const isSearched = field.kind === "any" || (field.kind === "text" && field.name === "msg");
    if (field.kind === "id" || isSearched) {
      this.#refuse("cannot be compared", position);
    }
    for (const token of [lower, upper]) {
      if (token && unitsOf(token).some((unit) => typeof unit !== "string")) {
        this.#refuse("a wildcard in a comparison", token.at);
      }
    }
    if (field.kind === "time") {
      const from = lower && (openLower ? this.#time(lower).to : this.#time(lower).from);
      const to = upper && (openUpper ? this.#time(upper).from : this.#time(upper).to);
      return ({ [field.name]: time }) =>
        (from === null || time >= from) && (to === null || time < to);
    }
    const within = <T>(compare: (value: T, bound: T) => number, low: T | null, high: T | null) => {
      return (value: T) =>
        (low === null || compare(value, low) > (openLower ? 0 : -1)) &&
        (high === null || compare(value, high) < (openUpper ? 0 : 1));
    };
    if (field.kind === "level") {
      const severity = (level: string) => ["debug", "info", "warn", "error"].indexOf(level);
      const test = within<number>(
        (a, b) => Math.sign(a - b),
        lower && severity(readLevel(lower)),
        upper && severity(readLevel(upper)),
      );
      return ({ level }) => level !== null && test(severity(level));
    }
    if (field.kind === "attrs") {
      const low = lower && readNumber(lower);
      const high = upper && readNumber(upper);
      if (low && high && low.unit !== high.unit) this.#refuse("different units", upper?.at);
      const unit = (low ?? high)?.unit ?? null;
      const test = within<Decimal>(compareDecimals, low?.value ?? null, high?.value ?? null);
      return (event) => {
        const value = attributeOf(field, event);
        if (unit === null) {
          const number = numberOf(value);
          return number !== null && test(number);
        }
        const quantity = typeof value === "string" ? quantityOf(value, unit) : null;
        return quantity !== null && test(quantity);
      };
    }
    const test = within<string>(
      (a, b) => Math.sign(compareText(a, b)),
      lower && textOf(lower),
      upper && textOf(upper),
    );
    return (event) => textsOf(field, event).some(test);
  }

  /** Reads a word or a quoted text without a sign. Stays at its token. */
  #term(field: Field): Predicate {
    const token = this.#token;
    if (token.text.join("") === "*" && field.kind !== "any") {
      return (event) => hasValue(field, event);
    }
    const units = unitsOf(token);
    const text = textOf(token);
    const isPattern = units.some((unit) => typeof unit !== "string");
    if (
      field.kind === "any" || (field.kind === "text" && (field.name === "msg" || isPattern)) ||
      (field.kind === "attrs" && isPattern)
    ) {
      const isEmpty = ["*", '""'].includes(token.text.join(""));
      if (field.kind === "any" && isEmpty) this.#refuse("any takes a text");
      this.#search(token.text, token.at);
    }
    const takesNetwork = field.kind === "attrs" || (field.kind === "text" && field.name === "host");
    if (takesNetwork && !isPattern && !this.#isQuoted()) {
      const network = readNetwork(token.text.join(""));
      if (network === undefined) this.#refuse("no network");
      if (network) return (event) => textsOf(field, event).some((t) => isAddressIn(t, network));
    }
    if (field.kind === "any" || field.kind === "text" && field.name === "msg") {
      const folded = units.map((unit) => (typeof unit === "string" ? fold(unit) : unit));
      const anywhere: Unit[] = [{ any: "many" }, ...folded, { any: "many" }];
      return (event) => textsOf(field, event).some((t) => glob(anywhere, [...fold(t)]));
    }
    switch (field.kind) {
      case "time": {
        const span = this.#time(token);
        if (/^[+-]/.test(text)) {
          span.from = Math.min(span.from, this.now);
          span.to = Math.max(span.to, this.now + 1);
        }
        return ({ [field.name]: time }) => time >= span.from && time < span.to;
      }
      case "id":
        if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) this.#refuse("no UUID");
        return ({ id }) => id === text.toLowerCase();
      case "level": {
        const wanted = readLevel(token);
        return ({ level }) => level === wanted;
      }
      default:
        return (event) => textsOf(field, event).some((value) => glob(units, [...value]));
    }
  }

  #time(token: Token): Span {
    const text = textOf(token);
    const shift = /^(?:now|(?:now)?([+-]\d{1,10})([smhdw]))$/.exec(text);
    if (shift) {
      const unit = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 }[shift[2]] ?? 0;
      const seconds = Number(shift[1] ?? 0) * unit;
      if (Math.abs(seconds) > 3155760000) this.#refuse("a shift too long", token.at);
      const from = this.now + seconds * 1e6;
      return { from, to: from + 1 };
    }
    const match =
      /^(\d{4})-(\d\d)-(\d\d)(?:[Tt ]([01]\d|2[0-3]):([0-5]\d)(?::([0-5]\d)(?:\.(\d{1,9}))?)?(?:([Zz])|([+-])(0\d|1[0-4])(?::?([0-5]\d))?)?)?$/
        .exec(text);
    if (!match) return this.#refuse("no time", token.at);
    const [, year, month, day, hour, minute, second = "0", fraction = ""] = match;
    const date = new Date(0);
    date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
    if (
      date.getUTCFullYear() !== Number(year) || date.getUTCMonth() !== Number(month) - 1 ||
      Number(year) === 0
    ) this.#refuse("no such day", token.at);
    const midnight = date.getTime() * 1000;
    if (hour === undefined) return { from: midnight, to: midnight + 86_400e6 };
    const offset = (match[9] === "-" ? -1 : 1) *
      (Number(match[10] ?? 0) * 3600 + Number(match[11] ?? 0) * 60);
    const seconds = Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
    const from = midnight + seconds * 1e6 + Number(fraction.padEnd(9, "0").slice(0, 6));
    return { from, to: from + 1 };
  }
}

function tokenize(source: string[]): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const start = at;
    const c = source[at];
    if (space.has(c)) {
      at++;
      continue;
    }
    if (c === '"') {
      at++;
      while (at < source.length && source[at] !== '"') at += source[at] === "\\" ? 2 : 1;
      if (at >= source.length) throw new QueryError(start + 1, "not closed");
      at++;
    } else if (brackets.has(c)) {
      at++;
    } else {
      while (
        at < source.length && !space.has(source[at]) && !brackets.has(source[at]) &&
        source[at] !== '"'
      ) {
        if (source[at] === "\\" && at + 1 === source.length) {
          throw new QueryError(at + 1, "nothing to escape");
        }
        at += source[at] === "\\" ? 2 : 1;
      }
    }
    tokens.push({ text: source.slice(start, at), at: start + 1 });
  }
  tokens.push({ text: [], at: source.length + 1 });
  return tokens;
}

/** Returns the index of the first colon that is not escaped, or -1. */
function colonOf(text: string[]): number {
  for (let at = 0; at < text.length; at++) {
    if (text[at] === ":") return at;
    if (text[at] === "\\") at++;
  }
  return -1;
}

function unitsOf({ text }: Token): Unit[] {
  const isQuoted = text[0] === '"';
  const chars = isQuoted ? text.slice(1, -1) : text;
  const units: Unit[] = [];
  for (let at = 0; at < chars.length; at++) {
    if (chars[at] === "\\") units.push(chars[++at]);
    else if (!isQuoted && chars[at] === "*") units.push({ any: "many" });
    else if (!isQuoted && chars[at] === "?") units.push({ any: "one" });
    else units.push(chars[at]);
  }
  return units;
}

/** Returns the text without escapes, with wildcards as written. */
function textOf(token: Token): string {
  return unitsOf(token)
    .map((unit) => (typeof unit === "string" ? unit : unit.any === "many" ? "*" : "?"))
    .join("");
}

function glob(units: Unit[], text: string[]): boolean {
  // reached[i]: the units so far can match the first i characters.
  let reached = [true, ...text.map(() => false)];
  for (const unit of units) {
    const next = reached.map(() => false);
    for (let i = 0; i <= text.length; i++) {
      if (typeof unit !== "string" && unit.any === "many") {
        next[i] = reached[i] || (i > 0 && next[i - 1]);
      } else if (i > 0) {
        next[i] = reached[i - 1] && (typeof unit !== "string" || unit === text[i - 1]);
      }
    }
    reached = next;
  }
  return reached[text.length];
}

function readLevel(token: Token): string {
  const word = textOf(token).toLowerCase();
  const hasWildcard = unitsOf(token).some((unit) => typeof unit !== "string");
  const aliases: [string, RegExp][] = [
    [
      "debug",
      /^(debug[1-5]?|trace|fine(st|r)?|silly|verbose|http|notset|dbu?g|debg|trce?|vrb|[12]\d(\.\d+)?)$/,
    ],
    [
      "info",
      /^(info|information(al)?|notice|log|ok|default|audit|config|inf|success|3\d(\.\d+)?)$/,
    ],
    ["warn", /^(warn|warning|wrn|4\d(\.\d+)?)$/],
    [
      "error",
      /^(error|err|erro|eror|severe|critical|crit|fatal|ftl|d?panic|fail|alert|emerg|emergency|[5-9]\d(\.\d+)?)$/,
    ],
  ];
  const found = aliases.find(([, pattern]) => pattern.test(word));
  if (!found || hasWildcard) throw new QueryError(token.at, "no level");
  return found[0];
}

function readNumber(token: Token): { unit: Measure | null; value: Decimal } {
  const text = textOf(token);
  const isQuoted = token.text[0] === '"';
  for (const unit of ["seconds", "bytes"] as const) {
    const value = isQuoted ? null : quantityOf(text, unit);
    if (value) return { unit, value };
  }
  if (isQuoted || !/^-?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(text)) {
    throw new QueryError(token.at, "no number");
  }
  const exponent = Number(/[eE][+-]?(\d+)$/.exec(text)?.[1] ?? 0);
  if (exponent > 400) throw new QueryError(token.at, "out of range");
  return { unit: null, value: decimal(text) };
}

/** Returns whether the text has the word, without a letter, digit or _ next to it. */
function holdsWord(text: string, word: string): boolean {
  const [chars, wanted] = [[...text], [...word]];
  const isBoundary = (c: string | undefined) => c === undefined || !/[\p{Alphabetic}0-9_]/u.test(c);
  for (let at = 0; at + wanted.length <= chars.length; at++) {
    if (
      wanted.every((c, i) => chars[at + i] === c) && isBoundary(chars[at - 1]) &&
      isBoundary(chars[at + wanted.length])
    ) return true;
  }
  return false;
}

/** Returns the texts that a term may match: at most one, except for an attribute with an array. */
function textsOf(field: Field, event: Event): string[] {
  switch (field.kind) {
    case "attrs": {
      const value = attributeOf(field, event);
      return (Array.isArray(value) ? value : [value])
        .map(scalarText).filter((text) => text !== null);
    }
    case "text":
    case "level":
      return [groupText(field, event)].filter((text) => text !== null);
    case "any":
      return [...textFields.map((name) => event[name]), event.level, ...scalarsOf(event.attrs)]
        .filter((text) => text !== null);
    default:
      throw new Error(`${field.kind} has no text`);
  }
}

function scalarsOf(value: Json): string[] {
  if (Array.isArray(value)) return value.flatMap(scalarsOf);
  if (isRecord(value)) return Object.values(value).flatMap(scalarsOf);
  return [scalarText(value)].filter((text) => text !== null);
}

function hasValue(field: Field, event: Event): boolean {
  if (field.kind === "attrs") return (attributeOf(field, event) ?? null) !== null;
  return field.kind === "time" || field.kind === "id" || textsOf(field, event).length > 0;
}
