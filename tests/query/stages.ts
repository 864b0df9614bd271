import { decimal, numberOf, quantityOf } from "./decimal.ts";
import {
  type Event,
  fold,
  isRecord,
  type Json,
  numberText,
  type Predicate,
  QueryError,
} from "./event.ts";
import { readRegex } from "./regex.ts";
import { attributeOf, type Field, groupText, readField, space, type Token } from "./field.ts";

// This is a second implementation of the stages, and of aggregates over events.

export interface Aggregate {
  kind: string;
  field: Field | null;
  name: string;
  /** Only events that pass it are counted. */
  condition: Predicate;
}

/** Computes a number from the results so far. */
type Formula = (results: Results) => number | null;
export type Results = { [name: string]: number | null };
/** Reads the condition in the bracket at a position of the query. */
type ReadCondition = (position: number) => { test: Predicate; end: number } | null;

/** A stage for each record: extracts attributes from a field, or filters. */
export type RowStage =
  | { extract: (text: string) => { [key: string]: Json }; field: Field }
  | { where: Predicate };

/** Punctuation of a stage. Everything else except white space is part of a name. */
const marks = ["(", ")", ",", "|", "<", ">", "=", "!", "<=", ">=", "!=", '"'];
const known = "json logfmt sort limit fields where patterns math extract extract_regexp".split(" ");

export class Plan {
  rows: RowStage[] = [];
  aggregates: Aggregate[] = [];
  math: { name: string; formula: Formula }[] = [];
  by: { field: Field; name: string }[] = [];
  /** Seconds. */
  bucket: number | null = null;
  patterns = false;
  having: { name: string; operator: string; number: number }[] = [];
  sort: { name: string; descending: boolean }[] = [];
  limit: number | null = null;
  fields: Field[] = [];
  /** Counts a term at a position; throws if there are too many. */
  terms: (position: number) => void = () => {};
  #seen = new Set<string>();
  #count = 0;

  get makesRows(): boolean {
    return this.patterns || this.aggregates.length > 0;
  }

  /** The names of all numbers of a row. The row's value is the last number of math, or else the first number. */
  get results(): string[] {
    return [...this.aggregates, ...this.math].map(({ name }) => name);
  }

  get value(): string {
    return (this.math.at(-1) ?? this.aggregates[0]).name;
  }

  get columns(): string[] {
    if (this.patterns) return ["count", "first", "last", "pattern"];
    const time = this.bucket === null ? [] : ["ts"];
    return [...this.results, ...time, ...this.by.map(({ name }) => name)];
  }

  seen(stage: string): void {
    this.#seen.add(stage);
    this.#count++;
  }

  /** Throws if a stage may not follow the stages before it. */
  check(stage: string, position: number): void {
    const has = (...stages: string[]) => stages.some((one) => this.#seen.has(one));
    const isRefused = stage === "where"
      ? has("limit", "fields") || (has("sort") && !this.makesRows)
      : stage === "sort"
      ? has("sort", "limit")
      : stage === "math"
      ? this.aggregates.length === 0 || has("sort", "limit")
      : stage === "limit"
      ? has("limit")
      : stage === "fields"
      ? this.makesRows || has("fields")
      : this.makesRows || has("sort", "limit", "fields");
    if (isRefused) throw new QueryError(position, `${stage} is not allowed here`);
    if (this.#count >= 10) throw new QueryError(position, "too many stages");
  }
}

export function readStage(
  plan: Plan,
  source: string[],
  position: number,
  condition: ReadCondition,
): void {
  const isMath = /^[ \t\r\n\u00a0]*math(?![^ \t\r\n\u00a0()[\]{}|"])/.test(source.join(""));
  const tokens = isMath ? tokenizeMath(source, position) : tokenize(source, position);
  new StageReader(plan, tokens, condition).stage();
}

class StageReader {
  #at = 0;

  constructor(readonly plan: Plan, readonly tokens: Token[], readonly condition: ReadCondition) {}

  get #token(): Token {
    return this.tokens[Math.min(this.#at, this.tokens.length - 1)];
  }

  get #text(): string {
    return this.#token.text.join("");
  }

  #is(text: string): boolean {
    return this.#text === text;
  }

  #refuse(message: string, token = this.#token): never {
    throw new QueryError(token.at, message);
  }

  #expect(text: string): void {
    if (!this.#is(text)) this.#refuse(`${text} is missing`);
    this.#at++;
  }

  stage(): void {
    const name = this.#text;
    if (known.includes(name)) this.plan.check(name, this.#token.at);
    switch (name) {
      case "json":
      case "logfmt": {
        const field = this.#textField();
        this.plan.rows.push({ extract: (text) => extract(name, text), field });
        break;
      }
      case "extract":
      case "extract_regexp": {
        this.#at++;
        const token = this.#token;
        if (!/^"([^"\\]|\\.)*"$/su.test(this.#text)) this.#refuse("a pattern is missing");
        this.#at++;
        const read = name === "extract"
          ? readPattern(this.#refuse.bind(this), token)
          : readRegexp(this.#refuse.bind(this), token);
        const field = this.#is("from") ? this.#textField() : readField([..."msg"], token.at);
        this.plan.rows.push({ extract: read, field });
        break;
      }
      case "patterns":
        this.#at++;
        this.plan.patterns = true;
        break;
      case "limit":
        this.#at++;
        if (!/^[1-9]\d{0,5}$/.test(this.#text)) this.#refuse("no number");
        this.plan.limit = Number(this.#text);
        this.#at++;
        break;
      case "fields":
        do {
          this.#at++;
          if (this.plan.fields.length === 50) this.#refuse("too many fields");
          this.plan.fields.push(this.#field());
        } while (this.#is(","));
        break;
      case "sort":
        this.#sort();
        break;
      case "math":
        this.#math();
        break;
      case "where":
        this.#having();
        break;
      default:
        this.#aggregates();
    }
    if (this.#token.text.length > 0) this.#refuse("nothing may follow");
    this.plan.seen(known.includes(name) ? name : "an aggregate");
  }

  #textField(): Field {
    this.#at++;
    const token = this.#token;
    const field = this.#field();
    if (field.kind !== "text" && field.kind !== "attrs") this.#refuse("no text", token);
    return field;
  }

  #field(): Field {
    const token = this.#token;
    if (token.text.length === 0 || marks.includes(this.#text)) this.#refuse("a field is missing");
    const field = readField(token.text, token.at);
    if (field.kind === "any") this.#refuse("any is not allowed here");
    this.#at++;
    return field;
  }

  #sort(): void {
    this.#at++;
    if (!this.#is("by")) this.#refuse("by is missing");
    const columns = this.plan.makesRows ? this.plan.columns : ["ts"];
    do {
      this.#at++;
      const isSecond = !this.plan.makesRows && this.plan.sort.length > 0;
      if (!columns.includes(this.#text) || isSecond) this.#refuse("no column");
      const name = this.#text;
      this.#at++;
      this.plan.sort.push({ name, descending: this.#is("desc") });
      if (this.#is("asc") || this.#is("desc")) this.#at++;
    } while (this.#is(","));
  }

  #having(): void {
    const columns = this.plan.patterns ? ["count"] : this.plan.results;
    do {
      this.#at++;
      if (!columns.includes(this.#text)) this.#refuse("no number to compare");
      const name = this.#text;
      this.#at++;
      const operator = this.#text;
      if (!["<", ">", "=", "<=", ">=", "!="].includes(operator)) this.#refuse("no comparison");
      this.#at++;
      const isNumber = /^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(this.#text);
      const number = Number(this.#text);
      if (!isNumber || !Number.isFinite(number)) this.#refuse("no number");
      if (number === 0 && decimal(this.#text).digits !== 0n) this.#refuse("out of range");
      this.plan.having.push({ name, operator, number });
      this.#at++;
    } while (this.#is("AND"));
  }

  #math(): void {
    this.#at++;
    const formula = this.#formula(["+", "-"], 0);
    this.#expect("as");
    const token = this.#token;
    const name = this.#text;
    if (!/^[A-Za-z_][A-Za-z0-9_]{0,59}$/.test(name)) this.#refuse("a name is missing");
    if (this.plan.columns.includes(name)) this.#refuse("two of a name", token);
    this.#at++;
    this.plan.math.push({ name, formula });
  }

  #formula(operators: string[], depth: number): Formula {
    const next = () =>
      operators[0] === "+" ? this.#formula(["*", "/", "%"], depth) : this.#figure(depth);
    let formula = next();
    while (operators.includes(this.#text)) {
      const [left, operator] = [formula, this.#text];
      this.#at++;
      const right = next();
      formula = (results) => compute(left(results), operator, right(results));
    }
    return formula;
  }

  #figure(depth: number): Formula {
    const text = this.#text;
    const token = this.#token;
    if (text === "-" || text === "(") {
      if (depth === 16) this.#refuse("too deep");
      this.#at++;
      if (text === "-") {
        const figure = this.#figure(depth + 1);
        return (results) => compute(0, "-", figure(results));
      }
      const formula = this.#formula(["+", "-"], depth + 1);
      this.#expect(")");
      return formula;
    }
    const isNumber = /^\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(text);
    const number = Number(text);
    if (isNumber) {
      if (!Number.isFinite(number)) this.#refuse("out of range");
      if (number === 0 && decimal(text).digits !== 0n) this.#refuse("out of range");
    } else if (!this.plan.results.includes(text)) this.#refuse("no number to compute with");
    this.plan.terms(token.at);
    this.#at++;
    return isNumber ? () => number : (results) => results[text];
  }

  #aggregates(): void {
    const first = this.#token;
    const names = new Set<string>();
    const aggregates: Aggregate[] = [];
    for (;;) {
      const token = this.#token;
      const aggregate = this.#aggregate();
      if (token === first) this.plan.check("an aggregate", first.at);
      else if (names.has(aggregate.name)) this.#refuse("two of a name", token);
      else if (names.size === 8) this.#refuse("too many", token);
      names.add(aggregate.name);
      aggregates.push(aggregate);
      if (!this.#is(",")) break;
      this.#at++;
    }
    this.plan.aggregates = aggregates;
    if (this.#is("by")) this.#by();
  }

  #aggregate(): Aggregate {
    const kind = this.#text;
    const isPercentile = /^p(100|\d{1,2}(\.\d{1,4})?)$/.test(kind);
    const others = ["count", "rate", "count_distinct", "sum", "avg", "min", "max"];
    if (!isPercentile && !others.includes(kind)) this.#refuse("unknown");
    this.#at++;
    this.#expect("(");
    let field: Field | null = null;
    if (kind !== "count" && kind !== "rate") {
      const token = this.#token;
      field = this.#field();
      const isTime = field.kind === "time" && (kind === "min" || kind === "max");
      if (kind !== "count_distinct" && field.kind !== "attrs" && !isTime) {
        this.#refuse("no attribute", token);
      }
    }
    this.#expect(")");
    let name = kind;
    let condition: Predicate = () => true;
    if (this.#is("if")) {
      this.#at++;
      const read = this.#is("(") ? this.condition(this.#token.at) : null;
      if (read === null) return this.#refuse("a condition is missing");
      condition = read.test;
      this.#at = this.tokens.findIndex(({ at }) => at >= read.end);
    }
    if (this.#is("as")) {
      this.#at++;
      name = this.#text;
      if (!/^[A-Za-z_][A-Za-z0-9_]{0,59}$/.test(name)) this.#refuse("a name is missing");
      this.#at++;
    }
    return { kind, field, name, condition };
  }

  #by(): void {
    do {
      this.#at++;
      const open = this.#token;
      if (!this.#is("(")) {
        const name = this.#text;
        const field = this.#field();
        if (this.plan.columns.includes(name)) this.#refuse("two of a name", open);
        this.plan.by.push({ field, name });
        continue;
      }
      this.#at++;
      const width = /^([1-9]\d{0,4})([smhdw])$/.exec(this.#text);
      if (!width) return this.#refuse("a width is missing");
      if (this.plan.bucket !== null) this.#refuse("two widths", open);
      this.#at++;
      this.#expect(")");
      if (this.plan.columns.includes("ts")) this.#refuse("two of a name", open);
      const unit = { s: 1, m: 60, h: 3600, d: 86400, w: 604800 }[width[2]] ?? 0;
      this.plan.bucket = Number(width[1]) * unit;
    } while (this.#is(","));
  }
}

/** Returns a result; null for a division by zero, and for a result that a double cannot hold. */
function compute(left: number | null, operator: string, right: number | null): number | null {
  if (left === null || right === null) return null;
  if (operator === "+" || operator === "-") {
    const sum = operator === "+" ? left + right : left - right;
    return Number.isFinite(sum) ? sum : null;
  }
  if (operator === "*" || operator === "/") {
    const result = operator === "*" ? left * right : left / right;
    const isTooSmall = result === 0 && left !== 0 && right !== 0;
    return Number.isFinite(result) && !isTooSmall ? result : null;
  }
  const [a, b] = [decimal(String(left)), decimal(String(right))];
  if (b.digits === 0n) return null;
  const scale = BigInt(Math.max(a.scale, b.scale));
  const [x, y] = [a, b].map(({ digits, scale: own }) => digits * 10n ** (scale - BigInt(own)));
  return Number(`${x % y}e-${scale}`);
}

/** Numbers and names are tokens; so is each other character. */
function tokenizeMath(source: string[], position: number): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  while (at < source.length) {
    const rest = source.slice(at).join("");
    const [found] = /^(\d([eE][+-]?\d|[\w.])*|[A-Za-z_][\w.]*|.)/su.exec(rest) ?? [""];
    const length = [...found].length;
    if (!space.has(source[at])) tokens.push({ text: [...found], at: position + at });
    at += length;
  }
  tokens.push({ text: [], at: position + source.length });
  return tokens;
}

function tokenize(source: string[], position: number): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  const isName = (c: string) => !space.has(c) && !marks.includes(c);
  while (at < source.length) {
    const start = at;
    if (space.has(source[at])) {
      at++;
      continue;
    }
    while (at < source.length) {
      if (source[at] === "\\") {
        at = Math.min(at + 2, source.length);
      } else if (isName(source[at])) {
        at++;
      } else if (source[at] === '"') {
        let end = at + 1;
        while (end < source.length && source[end] !== '"') end += source[end] === "\\" ? 2 : 1;
        if (end >= source.length) break;
        at = end + 1;
      } else break;
    }
    if (at === start) at += ["<", ">", "!"].includes(source[at]) && source[at + 1] === "=" ? 2 : 1;
    tokens.push({ text: source.slice(start, at), at: position + start });
  }
  tokens.push({ text: [], at: position + source.length });
  return tokens;
}

/** Returns the value of an aggregate over events. For rate it returns their number. */
export function aggregateOf({ kind, field, condition }: Aggregate, all: Event[]): number | null {
  const events = all.filter(condition);
  if (field === null) return events.length;
  if (kind === "count_distinct") {
    return new Set(events.map((event) => groupText(field, event)).filter((t) => t !== null)).size;
  }
  const numbers = events.map((event) =>
    field.kind === "attrs"
      ? countedNumber(attributeOf(field, event))
      : field.kind === "time"
      ? event[field.name] / 1e6
      : null
  )
    .filter((value) => value !== null)
    .sort((a, b) => a - b);
  const sum = numbers.reduce((total, value) => total + value, 0);
  if (kind === "sum") return sum;
  if (numbers.length === 0) return null;
  if (kind === "avg") return sum / numbers.length;
  if (kind === "min") return numbers[0];
  if (kind === "max") return numbers[numbers.length - 1];
  const place = (Number(kind.slice(1)) / 100) * (numbers.length - 1);
  const [low, high] = [numbers[Math.floor(place)], numbers[Math.ceil(place)]];
  return low + (high - low) * (place - Math.floor(place));
}

/** Returns the number of a value in an aggregate; a quantity counts in seconds or bytes. */
function countedNumber(value: Json | undefined): number | null {
  if (typeof value === "number") return value;
  const number = numberOf(value) ??
    (typeof value === "string" ? quantityOf(value, "seconds") ?? quantityOf(value, "bytes") : null);
  return number === null ? null : Number(`${number.digits}e${-number.scale}`);
}

type Refuse = (message: string, token: Token) => never;

function namesOf(named: string[], refuse: Refuse, token: Token): void {
  if (named.length === 0) refuse("names nothing", token);
  if (new Set(named).size < named.length) refuse("two of a name", token);
}

/** Reads the pattern of extract: names between texts. */
function readPattern(refuse: Refuse, token: Token): (text: string) => { [key: string]: Json } {
  const pattern = token.text.slice(1, -1).join("").replace(/\\(.)/gsu, "$1");
  const parts = pattern.split(/<([^<>]*)>/su);
  const names = parts.filter((_, i) => i % 2 === 1);
  const literals = parts.filter((_, i) => i % 2 === 0);
  if (names.some((name) => !/^([A-Za-z_]\w{0,59})?$/.test(name))) refuse("no name", token);
  if (literals.slice(1, -1).includes("")) refuse("names touch", token);
  const isNamed = (name: string) => name !== "" && name !== "_";
  namesOf(names.filter(isNamed), refuse, token);
  return (text) => {
    const whole = [...text].slice(0, 65536).join("");
    const found: { [key: string]: Json } = {};
    let at = whole.indexOf(literals[0]);
    for (const [i, name] of names.entries()) {
      if (at < 0) return {};
      const starts = at + literals[i].length;
      at = literals[i + 1] === "" ? whole.length : whole.indexOf(literals[i + 1], starts);
      if (isNamed(name)) found[name] = whole.slice(starts, Math.max(at, starts));
    }
    return at < 0 ? {} : found;
  };
}

/** Reads the expression of extract_regexp, with the engine of JavaScript. */
function readRegexp(refuse: Refuse, token: Token): (text: string) => { [key: string]: Json } {
  const names: string[] = [];
  const { regex, folded } = readRegex(token.text.slice(1, -1), token.at + 1, names);
  namesOf(names, refuse, token);
  return (text) => {
    const whole = [...text].slice(0, 65536).join("");
    const places = regex.exec(folded ? fold(whole) : whole)?.indices ?? [];
    return Object.fromEntries(names.flatMap((name, i) => {
      const place = places[i + 1];
      return place === undefined ? [] : [[name, whole.slice(...place)]];
    }));
  };
}

/** Returns the attributes that json or logfmt extracts from a text. */
export function extract(kind: "json" | "logfmt", text: string): { [key: string]: Json } {
  if (kind === "json") {
    if (new TextEncoder().encode(text).length > 65536 || !/^[ \t\r\n]*\{/.test(text)) return {};
    try {
      const value: Json = JSON.parse(text, (_, inner) => {
        return typeof inner === "number" && numberText(inner).length > 40 ? String(inner) : inner;
      });
      return isRecord(value) && isNestedAtMost(64, value) ? value : {};
    } catch {
      return {};
    }
  }
  const found: { [key: string]: Json } = {};
  const pairs =
    /(?<=^|[ \t\r\n])([^ \t\r\n="]+)=("(?:[^"\\]|\\.)*"|[^ \t\r\n"]*)(?=[ \t\r\n]|$)/gsu;
  for (const [, name, value] of [...text].slice(0, 65536).join("").matchAll(pairs)) {
    found[name] = value.startsWith('"')
      ? value.slice(1, -1).replace(/\\(.)/gsu, "$1")
      : /^-?(0|[1-9]\d{0,17})(\.\d{1,18})?$/.test(value)
      ? Number(value)
      : value;
  }
  return found;
}

function isNestedAtMost(depth: number, value: Json): boolean {
  if (typeof value !== "object" || value === null) return true;
  return depth > 0 && Object.values(value).every((inner) => isNestedAtMost(depth - 1, inner));
}
