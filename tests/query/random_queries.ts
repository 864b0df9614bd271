import fc from "fast-check";
import { textFields } from "../../supabase/functions/_shared/record_fields.ts";
import { ofTexts } from "../support/each_text_field.ts";
import type { Event, Json } from "./event.ts";

const { raw } = String;

// There are only a few words, so that queries find something. Some of them are difficult.
const words = [
  ...raw`api API Api worker AND OR NOT TO or * ? a*b % _ a%b a_b axb \ a\b \d " ' o'k $$ {} (a) a:b
    10.0.0.1:80 - -5 5 5.0 10 1e3 1000 0.1 true false null ß SS ÄÖ äö İ i I k ΑΣ ας ασ 日本 日 👍
    now warn Error timeout /api/users /api/ #!=@+/~<> äapi api_ 1.5s 1500ms 1m30s -2h 10MiB
    10485760B 10mb 1KB 10.0.0.7 10.0.0.7:443 10.1.2.3 192.168.0.1 010.0.0.1 ::1 fe80::1:2
    2001:db8::8 10.0.0.0/8 {} ["a"]`.split(/\s+/),
  "",
  " ",
  "a b",
  'say "hi"',
  "''; --",
  "[1, 2]",
  "\u212a",
  "e\u0301",
  "a\fb",
  "a\vb",
  "a\u2003b",
  "a\nb",
  "a\tb",
  "\u00a0",
  "\u2003",
  "time out",
  "a api b",
  "90 s",
  "5 kib",
  '{"a": "api", "b": 5}',
  ' {"a": {"b": 1.50}, "http.status": [1e1, "x"], "n": 0.10}',
  '{"a": 1',
  'a=api b="x \\"y\\" z" n=1.50',
  "lvl=info a=5 b= c==d e=007 日=1",
  '=x a="unclosed b=1',
];

/** Draws from an arbitrary more often than from the others of fc.oneof. */
const often = <T>(weight: number, arbitrary: fc.Arbitrary<T>) => ({ weight, arbitrary });

/** Draws texts, and writes them one after another. */
const joined = (...parts: fc.Arbitrary<string>[]) =>
  fc.tuple(...parts).map((texts) => texts.join(""));

/** Draws one of the words of a text, or of further texts. */
const oneOf = (text: string, ...further: string[]) =>
  fc.constantFrom(...text.split(/\s+/), ...further);

const text = fc.oneof(
  often(6, fc.constantFrom(...words)),
  fc.string({ unit: "binary", maxLength: 6 }),
  fc.array(fc.constantFrom(...words, "a", "b"), { maxLength: 4 }).map((w) => w.join("")),
).map((value) => value.replaceAll("\0", "0"));

const numbers = [
  ...[0, 1, -1, 5, -5, 10, 0.1, 0.5, 1e3, 1000.5, 1e21, 1e-7, 5e-324, 123456789.123],
  ...[-1.7976931348623157e308, 1.7976931348623157e308, 9007199254740991, 9007199254740993],
];
const number = fc.oneof(
  often(4, fc.constantFrom(...numbers)),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);

const keys = [...'a b 0 http status q" a.b http.status 日 x-y_1'.split(" "), "a b", "", "\\"];
const key = fc.oneof(fc.constantFrom(...keys), fc.constantFrom("a", "b"));

/** Texts that are numbers in the query language, and texts that almost are. */
const writtenNumbers = [
  ...["12", "-0.50", "007", "-0", "1E2", "404", "+1", ".5", "5.", " 5", "1_0", "NaN", "12 MB"],
  ...["0.1s", "1e300 ", "+1e300", "1e99999"],
  ...["1e300", "-1.5E-300", "1e+40", "1e40", "-1e39", "1e39", "1e-38", "1e-37", "5e-324", "2e-324"],
  ...["1e308", "2e308", "1.50e300", "1e0300", "0e500", "01e300"],
];

const scalar: fc.Arbitrary<Json> = fc.oneof(
  often(3, text),
  often(3, number),
  fc.constantFrom(...writtenNumbers),
  often(3, fc.boolean()),
  often(3, fc.constant(null)),
);
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    often(5, scalar),
    often(2, fc.array(tie("value"), { maxLength: 3 })),
    often(2, fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true })),
  ),
})).value;

/** There are few attributes, with values that are almost equal: 5 and 5.0, a null, a path and a flat key. */
const near = fc.constantFrom<Json>(
  ...[5, "5", "5.0", "05", "10", 1000, "1e3", true, "true", null, "api", "API", 9007199254740992, [
    "api",
    5,
  ], [["api"]]],
  ...["1.5s", "90s", "10MiB", "10.0.0.7", "10.0.0.7:443", "fe80::1:2", ["10.0.0.7"], "a api b"],
  ...["1e300", "-1.5E-300", "1e40", "1e39", 1e38, 1e40],
  ...[{ b: "api" }, { b: null }, { b: 5 }, { b: { a: "API" } }, [{ b: "api" }], "", [], {}, [null]],
);
const attrs = fc.oneof(
  fc.dictionary(key, json, { maxKeys: 5, noNullPrototype: true }),
  fc.record({ a: near, "a.b": near, b: near }, { requiredKeys: [], noNullPrototype: true }),
);

/** The time that "now" means in tests. */
export const now = Date.UTC(2026, 10, 21, 12) * 1000;

const time = fc.oneof(
  fc.integer({ min: -3 * 86400, max: 86400 }).map((s) => now + s * 1e6),
  fc.integer({ min: -2, max: 2 }).map((us) => now + us),
  fc.constantFrom(-3, -2, -1, 0, 1).chain((days) =>
    fc.integer({ min: -1, max: 1 }).map((us) => now - 43_200e6 + days * 86_400e6 + us)
  ),
);

const ids = [1, 2, 3, 4].map((n) => `0000000${n}-abcd-4abc-8abc-abcdefabcdef`);

const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { freq: 4 });

export const event: fc.Arbitrary<Event> = fc.record({
  id: fc.constantFrom(...ids),
  ts: time,
  received_at: time,
  level: maybe(fc.constantFrom("debug", "info", "warn", "error")),
  ...ofTexts(() => maybe(text)),
  attrs: maybe(attrs),
});

// Queries as text

const escape = (c: string) => `\\${c}`;

/** Writes a text as a word. Escapes all special characters and some others. */
function asWord(value: string, extra: number): string {
  return [...value].map((c, i) =>
    /[ \t\r\n\u00a0()[\]{}"|\\*?:<>~-]/.test(c) || (i + extra) % 7 === 0 ? escape(c) : c
  ).join("");
}

function asQuoted(value: string): string {
  return `"${value.replace(/["\\]/g, escape)}"`;
}

const word = fc.tuple(text, fc.nat(20)).map(([value, extra]) => {
  const written = asWord(value, extra);
  return written === "" || ["AND", "OR", "NOT"].includes(written)
    ? asQuoted(value || "x")
    : written;
});
const quoted = text.map(asQuoted);

/** A word with wildcards in place of some characters. */
const wild = fc.tuple(text, fc.nat(6), fc.nat(3), fc.constantFrom("*", "?", "**", "*?"))
  .map(([value, from, count, mark]) => {
    const chars = [...value];
    return asWord(chars.slice(0, from).join(""), 1) + mark +
      asWord(chars.slice(from + count).join(""), 1);
  });

const term = fc.oneof(
  often(4, word),
  often(3, quoted.filter((value) => value !== '""')),
  often(3, wild),
  fc.constant("*"),
);

const regexAtom = fc.oneof(
  oneOf(
    raw`a b p i I K ß ä Ä . \d \w \s \. \\ \" \* [a-c] [^a-z] [A-Z] [\d_] [^\s\w] [%_] [*-?] [α-ω] \D
      \W \S \n \t [\n\t] [\D5] [^\W_] [\S] [[:alpha:]] [^[:digit:]a] [[:upper:]]
      [[:punct:][:space:]] [À-Þ] [Ā-ž] [Ā-Ș] [İ-Ň] [Ⅰ-Ⅿ] [K-Å] [Α-Ω] [\]\-] 日 👍 \b ^ $ } ] -`,
    "[\u0080-\u{1efff}]",
    " ",
  ),
  text.map((value) => value.replace(/[\\^$.*+?()[\]{}|"/-]/g, escape)),
);
const regex: fc.Arbitrary<string> = fc.letrec<{ part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small" },
    often(4, regexAtom),
    often(2, joined(tie("part"), tie("part"))),
    joined(
      fc.constantFrom("a", ".", "[a-c]", "\\w", "(a|b)", "(?:ab)", "\\?"),
      fc.constantFrom("*", "+", "?", "{2}", "{1,}", "{0,3}", "*?", "+?", "??", "{1,2}?"),
    ),
    fc.tuple(tie("part"), tie("part")).map(([a, b]) => `(${a}|${b})`),
  ),
})).part;
const quotedRegex = fc.tuple(fc.constantFrom("", "", "(?i)"), regex)
  .map(([flag, source]) => `~"${flag}${source}"`);

const range = (bound: fc.Arbitrary<string>) => {
  const openable = fc.oneof(often(4, bound), fc.constant("*"));
  return fc.oneof(
    joined(fc.constantFrom(">", ">=", "<", "<=", "> "), bound),
    fc.tuple(fc.constantFrom("[", "{", "[ "), openable, openable, fc.constantFrom("]", "}"))
      .map(([open, from, to, close]) => `${open}${from} TO ${to}${close}`),
  );
};

const anyOf = (value: fc.Arbitrary<string>) =>
  fc.tuple(fc.array(value, { minLength: 1, maxLength: 4 }), fc.constantFrom(" ", " OR ", "\n"))
    .map(([values, glue]) => `(${values.join(glue)})`);

const isoTime = time.map((us) => {
  const iso = new Date(Math.floor(us / 1000)).toISOString();
  return iso.replace("Z", `${String(((us % 1000) + 1000) % 1000).padStart(3, "0")}Z`);
});
const timeLiteral = fc.oneof(
  isoTime,
  oneOf(
    raw`2026-11-21 2026-11-20 2026-11-19 2024-02-29 now now-15m now+1h now-1d now-0s -15m -2d +1h -0s
      2026-11-21T12:00 2026-11-21T12:00:00 2026-11-21t14:00:00.0+02:00 2026-11-21T09:30-0230
      2026-11-21T11:59:59.999999999Z`,
    '"2026-11-21 12:00:00z"',
  ),
);
const levelWord = oneOf(
  raw`debug info warn error ERROR Warning "err" fatal notice trace 10 35 40 60 70 emerg fail Ftl dbug
    ok`,
);
const quantityLiteral = fc.constantFrom(
  ...["1.5s", "1500ms", "1m30s", "90s", "-2h", "0s", "1us", "2w", "1.5µs"],
);
const sizeLiteral = fc.constantFrom("10MiB", "10mb", "1kB", "5KiB", "1B", "0.5GiB");
const numberLiteral = fc.oneof(
  number.map((value) => String(value).replace("+", "")),
  fc.constantFrom("1e3", "-0", "0.50", "10", "9007199254740993", "-5", "1E2"),
  fc.constantFrom("1e300", "1e299", "-1.5e-300", "1e40", "1e38", "5e-324", "-1e200"),
);
const textLiteral = fc.oneof(word, quoted);

/** Texts that are networks or almost are. */
const networkLike = fc.tuple(
  fc.array(fc.constantFrom(":", ":", "::", "1", "db8", "ffff", "1.2.3.4", ".", "01", "12345"), {
    minLength: 2,
    maxLength: 16,
  }),
  fc.constantFrom("0", "8", "08", "32", "33", "128", "129"),
).map(([parts, prefix]) => `${parts.join("")}/${prefix}`);

const network = fc.oneof(
  networkLike,
  fc.constantFrom(
    ...["10.0.0.0/8", "10.0.0.7/32", "10.0.0.0/24", "0.0.0.0/0", "10.1.2.3/16", "192.168.0.0/30"],
    ...["::/0", "fe80::/10", "2001:db8::/32", "::1/128", "10.0.0.0/33", "010.0.0.0/8", "1.2.3.4/x"],
  ),
);

const segment = oneOf(raw`a b 0 http status "q\"" "a.b" "http.status" "" 日 x-y_1 "\\"`, '"a b"');
const path = fc.tuple(
  fc.constantFrom("attrs.", "@"),
  fc.array(segment, { minLength: 1, maxLength: 3 }),
).map(([start, parts]) => start + parts.join("."));
const nearRegex = fc.tuple(
  fc.constantFrom("msg", "service", "attrs.a"),
  oneOf(
    raw`a\sb a[\s]b a[^\w]b \bb a\b ^a.b$ a$ ^a ^b (?i)^API$ (?i)[A-Z]P (?i)ä a{1,2}.?b 日$ ^.$
      (?i)[Α-Ω]ς [^\d]b a|/ (a|b).(a|b) ^(?:a|p|i)*$ (?i)k (?i)İ ^[A-Z]+$ \.|: [.*%_]`,
  ),
).map(([name, source]) => `${name}:~"${source}"`);
const nearField = fc.tuple(
  fc.constantFrom("attrs.a", "attrs.a.b", 'attrs."a".b', 'attrs."a.b"', "attrs.b"),
  oneOf(
    raw`5 5.0 "5" 1000 1e3 true "api" api API a* null "" * ~"(?i)^API$" >=9007199254740993
      >9007199254740991 <5 <=5 ~"5" ??`,
    "(api OR 5)",
    "[5 TO 5]",
    "{5 TO *]",
    "[* TO *]",
  ),
).map(([name, value]) => `${name}:${value}`);
const textColumn = fc.constantFrom(...textFields.filter((field) => field !== "msg"));

const any = (values: fc.Arbitrary<string>) =>
  fc.oneof(often(4, values), anyOf(values), fc.constant("*"));
const fieldWith = (field: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.tuple(field, value).map(([name, written]) => `${name}:${written}`);
const plainValue = fc.oneof(term, quoted);

/** Writes a value with a sign: exact, ignoring case, or a word. */
const signed = (value: fc.Arbitrary<string>) =>
  joined(fc.constantFrom("=", "i=", "w=", "= ", "i="), fc.oneof(value, anyOf(value)));
/** Short words, so that w= sometimes matches. */
const shortWord = oneOf("api API a b 5 äö ÄÖ 日", '"a b"', '"time out"');

const leaf = fc.oneof(
  often(3, nearRegex),
  often(6, nearField),
  often(
    3,
    fieldWith(
      fc.oneof(textColumn, fc.constantFrom("msg", "any", "@a", "attrs.b")),
      signed(fc.oneof(shortWord, plainValue)),
    ),
  ),
  often(4, fieldWith(fc.constant("any"), fc.oneof(any(term), any(shortWord), quotedRegex))),
  often(2, fieldWith(fc.oneof(fc.constantFrom("host", "@a", "@b"), path), any(network))),
  often(
    2,
    fieldWith(
      fc.oneof(fc.constantFrom("@a", "@b"), path),
      fc.oneof(range(quantityLiteral), range(sizeLiteral)),
    ),
  ),
  often(4, term),
  often(6, fieldWith(textColumn, fc.oneof(any(plainValue), range(textLiteral), quotedRegex))),
  often(2, fieldWith(fc.constant("msg"), fc.oneof(any(plainValue), quotedRegex))),
  often(8, fieldWith(path, fc.oneof(any(plainValue), range(numberLiteral), quotedRegex))),
  often(
    2,
    fieldWith(
      fc.constant("level"),
      fc.oneof(any(levelWord), range(levelWord), quotedRegex),
    ),
  ),
  often(
    2,
    fieldWith(
      fc.constantFrom("ts", "received_at"),
      fc.oneof(any(timeLiteral), range(timeLiteral)),
    ),
  ),
  fieldWith(
    fc.constant("id"),
    any(fc.constantFrom(...ids, ids[0].toUpperCase(), asQuoted(ids[1]))),
  ),
);

const filter: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "medium" },
    often(5, leaf),
    often(
      3,
      joined(
        tie("node"),
        fc.constantFrom(" ", " AND ", "\t AND\n", " OR ", "\u00a0"),
        tie("node"),
      ),
    ),
    often(
      2,
      joined(
        fc.constantFrom("(", "NOT (", "-(", "NOT -("),
        tie("node"),
        fc.constantFrom(")", " )"),
      ),
    ),
    often(2, joined(fc.constantFrom("-", "NOT ", "--"), leaf)),
  ),
})).node;

const groupField = fc.oneof(textColumn, fc.constantFrom("level", "msg", "id"), path);
const percentile = fc.constantFrom("p50", "p90", "p95", "p99", "p99.9", "p0", "p100", "p37.5");
const oneAggregate = fc.oneof(
  fc.constantFrom("count()", "count( )", "rate()", "max(ts)", "min(received_at)"),
  fc.tuple(fc.oneof(fc.constantFrom("sum", "avg", "min", "max"), percentile), path)
    .map(([kind, name]) => `${kind}(${name})`),
  groupField.map((name) => `count_distinct(${name})`),
);
/** The condition of an aggregate. */
const condition = fc.oneof(
  often(4, fc.constant("")),
  joined(
    fc.constantFrom(" if (", " if(", "if ( "),
    fc.oneof(nearField, leaf, filter),
    fc.constantFrom(")", " )"),
  ),
);
const conditional = joined(oneAggregate, condition);
const width = fc.constantFrom("(5m)", "(1h)", "( 1d )", "(90s)", "(1w)");

/** Aggregates with names for where and sort. */
const aggregates = fc.tuple(
  fc.array(conditional, { minLength: 1, maxLength: 3 }),
  fc.array(fc.oneof(often(3, groupField), width), { maxLength: 2 }),
).map(([all, keys]) => {
  const by = [...new Set(keys)].filter((key, i) => !key.startsWith("(") || i === 0);
  return {
    text: all.map((one, i) => i === 0 && all.length === 1 ? one : `${one} as v${i}`).join(", ") +
      (by.length > 0 ? ` by ${by.join(", ")}` : ""),
    names: all.length === 1 ? [all[0].replace(/\(.*/s, "")] : all.map((_, i) => `v${i}`),
    keys: by.filter((key) => !key.startsWith("(")),
  };
});

/** A formula over results, in which @ stands for one of them. */
const formula: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    often(4, fc.constantFrom("@", "@", "@", "2", "100", "0", "0.5", "1e300")),
    often(
      3,
      joined(
        tie("node"),
        fc.constantFrom(" + ", "-", " * ", "/", " / ", " % "),
        tie("node"),
      ),
    ),
    tie("node").map((node) => `(${node})`),
    tie("node").map((node) => `-${node}`),
  ),
})).node;

const aggregate = fc.tuple(
  aggregates,
  fc.option(fc.array(formula, { minLength: 1, maxLength: 2 }), { freq: 2, nil: [] }),
  fc.nat(),
  fc.constantFrom(">", ">=", "<", "<=", "=", "!="),
  fc.constantFrom("0", "1", "2", "-0.5", "1e1"),
  fc.integer({ min: 0, max: 15 }),
).map(([{ text, names: counted, keys }, formulas, pick, operator, bound, parts]) => {
  const names = [...counted];
  let written = text;
  for (const one of formulas) {
    written += ` | math ${
      one.replaceAll("@", () => names[pick % names.length])
    } as m${names.length}`;
    names.push(`m${names.length}`);
  }
  const name = names[pick % names.length];
  const column = [...names, ...keys][pick % (names.length + keys.length)];
  return written +
    (parts & 1 ? ` | where ${name} ${operator} ${bound}` : "") +
    (parts & 2 ? ` | sort by ${column}${pick % 2 ? " desc" : ""}` : "") +
    (parts & 4 ? ` | limit ${1 + pick % 3}` : "");
});

/** Stages that extract attributes and filter. */
const extraction = fc.tuple(
  fc.oneof(
    fc.constantFrom("json msg", "logfmt msg", "json @a", "logfmt service", "json host"),
    fc.constantFrom(
      ...[
        raw`extract "<a> <b>"`,
        raw`extract "<a>p<_>"`,
        raw`extract "/<b>/<>" from @a`,
        raw`extract "a=<a>" from msg`,
        raw`extract "<a>"<b>" <status>"`,
        raw`extract_regexp "(?P<a>[0-9]+)"`,
        raw`extract_regexp "(?P<a>\w+)=(?<b>\w+)" from msg`,
        raw`extract_regexp "(?i)(?P<b>[A-Z]{2})p?i" from @a`,
        raw`extract_regexp "^(?:a|(?P<b>[b-i]))(?P<a>.*)$" from service`,
        raw`extract_regexp "(?P<a>1)(?P<b>0)?"`,
      ],
    ),
  ),
  fc.oneof(often(2, fc.constant("")), fc.oneof(nearField, leaf)),
).map(([stage, where]) => stage + (where === "" ? "" : ` | where ${where}`));
const recordStages = fc.array(
  fc.oneof(textColumn, path, fc.constantFrom("msg", "ts", "level")),
  { minLength: 1, maxLength: 3 },
).map((names) => `fields ${names.join(", ")} | sort by ts`);
const stages = fc.oneof(
  often(4, aggregate),
  often(2, extraction),
  often(2, fc.tuple(extraction, aggregate).map((parts) => parts.join(" | "))),
  recordStages,
  fc.tuple(leaf, aggregate).map(([w, a]) => `where ${w} | ${a}`),
  fc.tuple(extraction, recordStages).map((parts) => parts.join(" | ")),
  fc.constantFrom("patterns", "patterns | where count > 1 | limit 2"),
);

/** Queries at a limit and just beyond it. */
const limits = fc.oneof(
  fc.tuple(fc.integer({ min: 62, max: 66 }), leaf, fc.constantFrom(" ", " OR ")).map((
    [count, one, glue],
  ) => Array(count).fill(one).join(glue)),
  fc.tuple(fc.integer({ min: 62, max: 66 }), word).map(([count, one]) =>
    `host:(${Array(count).fill(one).join(" ")})`
  ),
  fc.tuple(fc.integer({ min: 14, max: 18 }), fc.constantFrom("(", "-", "NOT ", "-("), leaf).map((
    [depth, open, one],
  ) => open.repeat(depth) + one + (open.includes("(") ? ")".repeat(depth) : "")),
  fc.tuple(fc.integer({ min: 2043, max: 2050 }), fc.constantFrom("a", "日")).map(([bytes, c]) =>
    `service:${c.repeat(Math.floor((bytes - 8) / new TextEncoder().encode(c).length))}`
  ),
  fc.integer({ min: 509, max: 515 }).map((length) => "a".repeat(length)),
  fc.integer({ min: 253, max: 259 }).map((length) =>
    `any:${"b".repeat(length)} service:${"a".repeat(254)}*`
  ),
  fc.integer({ min: 254, max: 258 }).map((length) => `msg:~"${"a".repeat(length)}"`),
  fc.integer({ min: 49, max: 52 }).map((length) =>
    `| fields ${Array.from({ length }, (_, i) => `@a${i}`).join(", ")}`
  ),
  // Two columns may have the same name.
  fc.tuple(
    fc.constantFrom("count()", "count() as ts", "rate() as service, count()", "max(ts) as n"),
    fc.array(fc.constantFrom("(5m)", "service", "env", "@a"), { minLength: 1, maxLength: 3 }),
  ).map(([aggregates, by]) => `| ${aggregates} by ${by.join(", ")}`),
);

/** A valid query. */
export const query: fc.Arbitrary<string> = fc.oneof(
  often(8, filter),
  fc.constantFrom("", " \t\r\n\u00a0"),
  often(4, fc.tuple(fc.oneof(fc.constant(""), filter), stages).map(([f, s]) => `${f} | ${s}`)),
);

const shards = [
  ...raw`" \ ( ) [ ] { } | : - * ? ~ > < >= ~" x 5 attrs. attrs." ts: level: msg: id: service:
    nosuch: attrs.a:> now- |count() , (?= {101} [a \1 ' 日 any: @ @a: @" := i= w= = /8 1.5s 10MiB
    >1s [[:alpha:]] *? [: |patterns (5m) desc :] \D`.split(/\s+/),
  ...[
    " ",
    " OR ",
    " AND ",
    " NOT ",
    " TO ",
    " by ",
    "\u00a0",
    "|where ",
    "|limit 2",
    "|sort by ts",
  ],
  ...[
    "|json msg",
    "|fields msg",
    " as n",
    ", ",
    "|math ",
    "|extract ",
    "|extract_regexp ",
    " from ",
  ],
  ...["(?P<a>", "<a>", " if ("],
];

/** A damaged query: mostly invalid. */
export const mangled: fc.Arbitrary<string> = fc.oneof(
  often(
    19,
    fc.tuple(
      query,
      fc.array(fc.tuple(fc.nat(), fc.nat(2), fc.constantFrom(...shards)), {
        minLength: 1,
        maxLength: 3,
      }),
    ).map(([source, changes]) => {
      const chars = [...source];
      for (const [where, removed, inserted] of changes) {
        chars.splice(where % (chars.length + 1), removed, ...inserted);
      }
      return chars.join("");
    }),
  ),
  limits,
);
