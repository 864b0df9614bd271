import fc from "fast-check";
import type { Event, Json } from "./event.ts";

// Texts are drawn from few words, so that queries find something, and those are the awkward ones.
const words = [
  "api",
  "API",
  "Api",
  "worker",
  "",
  " ",
  "a b",
  "AND",
  "OR",
  "NOT",
  "TO",
  "or",
  "*",
  "?",
  "a*b",
  "%",
  "_",
  "a%b",
  "a_b",
  "axb",
  "\\",
  "a\\b",
  "\\d",
  '"',
  'say "hi"',
  "'",
  "o'k",
  "''; --",
  "$$",
  "{}",
  "[1, 2]",
  "(a)",
  "a:b",
  "10.0.0.1:80",
  "-",
  "-5",
  "5",
  "5.0",
  "10",
  "1e3",
  "1000",
  "0.1",
  "true",
  "false",
  "null",
  "ß",
  "SS",
  "ÄÖ",
  "äö",
  "İ",
  "i",
  "I",
  "\u212a",
  "k",
  "ΑΣ",
  "ας",
  "ασ",
  "日本",
  "日",
  "👍",
  "e\u0301",
  "a\fb",
  "a\vb",
  "a\u2003b",
  "a\nb",
  "a\tb",
  "\u00a0",
  "\u2003",
  "now",
  "warn",
  "Error",
  "time out",
  "timeout",
  "/api/users",
  "/api/",
  "#!=@+/~<>",
];

const text = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...words) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 6 }) },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom(...words, "a", "b"), { maxLength: 4 }).map((w) =>
      w.join("")
    ),
  },
).map((value) => value.replaceAll("\0", "0"));

const numbers = [
  0,
  1,
  -1,
  5,
  -5,
  10,
  0.1,
  0.5,
  1e3,
  1000.5,
  1e21,
  1e-7,
  5e-324,
  -1.7976931348623157e308,
  1.7976931348623157e308,
  9007199254740991,
  9007199254740993,
  123456789.123,
];
const number = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...numbers) },
  { weight: 1, arbitrary: fc.double({ noNaN: true, noDefaultInfinity: true }) },
);

const keys = [
  "a",
  "b",
  "0",
  "http",
  "status",
  "a b",
  'q"',
  "a.b",
  "http.status",
  "",
  "日",
  "x-y_1",
  "\\",
];
const key = fc.oneof(fc.constantFrom(...keys), fc.constantFrom("a", "b"));

const scalar: fc.Arbitrary<Json> = fc.oneof(text, number, fc.boolean(), fc.constant(null));
const json: fc.Arbitrary<Json> = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    { weight: 5, arbitrary: scalar },
    { weight: 2, arbitrary: fc.array(tie("value"), { maxLength: 3 }) },
    {
      weight: 2,
      arbitrary: fc.dictionary(key, tie("value"), { maxKeys: 3, noNullPrototype: true }),
    },
  ),
})).value;

/** Few attributes with few values, and those that tell near misses apart: 5 and 5.0, a null, a path and a key. */
const near = fc.constantFrom<Json>(
  ...[5, "5", "5.0", 1000, "1e3", true, "true", null, "api", "API", 9007199254740992, ["api", 5], [[
    "api",
  ]]],
  ...[{ b: "api" }, { b: null }, { b: 5 }, { b: { a: "API" } }, [{ b: "api" }], "", [], {}, [null]],
);
const attrs = fc.oneof(
  fc.dictionary(key, json, { maxKeys: 5, noNullPrototype: true }),
  fc.record({ a: near, "a.b": near, b: near }, { requiredKeys: [], noNullPrototype: true }),
);

/** In the tests "now" is this. */
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
  msg: maybe(text),
  service: maybe(text),
  env: maybe(text),
  req_id: maybe(text),
  user_id: maybe(text),
  route: maybe(text),
  host: maybe(text),
  attrs: maybe(attrs),
});

// Queries, as text

const escape = (c: string) => `\\${c}`;

/** A text as a word, each character that means something escaped, and some that do not. */
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

/** A word in which wildcards stand for some of the text. */
const wild = fc.tuple(text, fc.nat(6), fc.nat(3), fc.constantFrom("*", "?", "**", "*?"))
  .map(([value, from, count, mark]) => {
    const chars = [...value];
    return asWord(chars.slice(0, from).join(""), 1) + mark +
      asWord(chars.slice(from + count).join(""), 1);
  });

const term = fc.oneof(
  { weight: 4, arbitrary: word },
  { weight: 3, arbitrary: quoted.filter((value) => value !== '""') },
  { weight: 3, arbitrary: wild },
  { weight: 1, arbitrary: fc.constant("*") },
);

const regexAtom = fc.oneof(
  fc.constantFrom(
    "a",
    "b",
    "p",
    "i",
    "I",
    "K",
    "ß",
    "ä",
    "Ä",
    ".",
    "\\d",
    "\\w",
    "\\s",
    "\\.",
    "\\\\",
    '\\"',
    "\\*",
    "[a-c]",
    "[^a-z]",
    "[A-Z]",
    "[\\d_]",
    "[^\\s\\w]",
    "[%_]",
    "[*-?]",
    "[α-ω]",
    "[Α-Ω]",
    "[\\]\\-]",
    "日",
    "👍",
    "\\b",
    "^",
    "$",
    " ",
    "}",
    "]",
    "-",
  ),
  text.map((value) => value.replace(/[\\^$.*+?()[\]{}|"/-]/g, escape)),
);
const regex: fc.Arbitrary<string> = fc.letrec<{ part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small" },
    { weight: 4, arbitrary: regexAtom },
    { weight: 2, arbitrary: fc.tuple(tie("part"), tie("part")).map((parts) => parts.join("")) },
    {
      weight: 1,
      arbitrary: fc.tuple(
        fc.constantFrom("a", ".", "[a-c]", "\\w", "(a|b)", "(?:ab)", "\\?"),
        fc.constantFrom("*", "+", "?", "{2}", "{1,}", "{0,3}"),
      )
        .map((parts) => parts.join("")),
    },
    { weight: 1, arbitrary: fc.tuple(tie("part"), tie("part")).map(([a, b]) => `(${a}|${b})`) },
  ),
})).part;
const quotedRegex = fc.tuple(fc.constantFrom("", "", "(?i)"), regex)
  .map(([flag, source]) => `~"${flag}${source}"`);

const range = (bound: fc.Arbitrary<string>) => {
  const openable = fc.oneof({ weight: 4, arbitrary: bound }, fc.constant("*"));
  return fc.oneof(
    fc.tuple(fc.constantFrom(">", ">=", "<", "<=", "> "), bound).map((parts) => parts.join("")),
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
  fc.constantFrom(
    "2026-11-21",
    "2026-11-20",
    "2026-11-19",
    "2024-02-29",
    "now",
    "now-15m",
    "now+1h",
    "now-1d",
    "now-0s",
    "2026-11-21T12:00",
    "2026-11-21T12:00:00",
    "2026-11-21t14:00:00.0+02:00",
    "2026-11-21T09:30-0230",
    '"2026-11-21 12:00:00z"',
    "2026-11-21T11:59:59.999999999Z",
  ),
);
const levelWord = fc.constantFrom(
  "debug",
  "info",
  "warn",
  "error",
  "ERROR",
  "Warning",
  '"err"',
  "fatal",
  "notice",
  "trace",
  "10",
  "35",
  "40",
  "60",
  "emerg",
);
const numberLiteral = fc.oneof(
  number.map((value) => String(value).replace("+", "")),
  fc.constantFrom("1e3", "-0", "0.50", "10", "9007199254740993", "-5", "1E2"),
);
const textLiteral = fc.oneof(word, quoted);

const segment = fc.constantFrom(
  "a",
  "b",
  "0",
  "http",
  "status",
  '"a b"',
  '"q\\""',
  '"a.b"',
  '"http.status"',
  '""',
  "日",
  "x-y_1",
  '"\\\\"',
);
const path = fc.array(segment, { minLength: 1, maxLength: 3 }).map((parts) =>
  `attrs.${parts.join(".")}`
);
const nearRegex = fc.tuple(
  fc.constantFrom("msg", "service", "attrs.a"),
  fc.constantFrom(
    ...[
      "a\\sb",
      "a[\\s]b",
      "a[^\\w]b",
      "\\bb",
      "a\\b",
      "^a.b$",
      "a$",
      "^a",
      "^b",
      "(?i)^API$",
      "(?i)[A-Z]P",
      "(?i)ä",
      "a{1,2}.?b",
      "日$",
      "^.$",
    ],
    ...[
      "(?i)[Α-Ω]ς",
      "[^\\d]b",
      "a|/",
      "(a|b).(a|b)",
      "^(?:a|p|i)*$",
      "(?i)k",
      "(?i)İ",
      "^[A-Z]+$",
      "\\.|:",
      "[.*%_]",
    ],
  ),
).map(([name, source]) => `${name}:~"${source}"`);
const nearField = fc.tuple(
  fc.constantFrom("attrs.a", "attrs.a.b", 'attrs."a".b', 'attrs."a.b"', "attrs.b"),
  fc.constantFrom(
    ...[
      "5",
      "5.0",
      '"5"',
      "1000",
      "1e3",
      "true",
      '"api"',
      "api",
      "API",
      "a*",
      "null",
      '""',
      "*",
      "(api OR 5)",
      '~"(?i)^API$"',
    ],
    ...[
      ">=9007199254740993",
      ">9007199254740991",
      "[5 TO 5]",
      "{5 TO *]",
      "<5",
      "<=5",
      '~"5"',
      "??",
      "[* TO *]",
    ],
  ),
).map(([name, value]) => `${name}:${value}`);
const textColumn = fc.constantFrom("service", "env", "req_id", "user_id", "route", "host");

const any = (values: fc.Arbitrary<string>) =>
  fc.oneof({ weight: 4, arbitrary: values }, { weight: 1, arbitrary: anyOf(values) }, {
    weight: 1,
    arbitrary: fc.constant("*"),
  });
const fieldWith = (field: fc.Arbitrary<string>, value: fc.Arbitrary<string>) =>
  fc.tuple(field, value).map(([name, written]) => `${name}:${written}`);
const plainValue = fc.oneof(term, quoted);

const leaf = fc.oneof(
  { weight: 3, arbitrary: nearRegex },
  { weight: 6, arbitrary: nearField },
  { weight: 4, arbitrary: term },
  {
    weight: 6,
    arbitrary: fieldWith(textColumn, fc.oneof(any(plainValue), range(textLiteral), quotedRegex)),
  },
  { weight: 2, arbitrary: fieldWith(fc.constant("msg"), fc.oneof(any(plainValue), quotedRegex)) },
  {
    weight: 8,
    arbitrary: fieldWith(path, fc.oneof(any(plainValue), range(numberLiteral), quotedRegex)),
  },
  {
    weight: 2,
    arbitrary: fieldWith(
      fc.constant("level"),
      fc.oneof(any(levelWord), range(levelWord), quotedRegex),
    ),
  },
  {
    weight: 2,
    arbitrary: fieldWith(
      fc.constantFrom("ts", "received_at"),
      fc.oneof(any(timeLiteral), range(timeLiteral)),
    ),
  },
  {
    weight: 1,
    arbitrary: fieldWith(
      fc.constant("id"),
      any(fc.constantFrom(...ids, ids[0].toUpperCase(), asQuoted(ids[1]))),
    ),
  },
);

const filter: fc.Arbitrary<string> = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "medium" },
    { weight: 5, arbitrary: leaf },
    {
      weight: 3,
      arbitrary: fc.tuple(
        tie("node"),
        fc.constantFrom(" ", " AND ", "\t AND\n", " OR ", "\u00a0"),
        tie("node"),
      ).map((parts) => parts.join("")),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(
        fc.constantFrom("(", "NOT (", "-(", "NOT -("),
        tie("node"),
        fc.constantFrom(")", " )"),
      ).map((parts) => parts.join("")),
    },
    {
      weight: 2,
      arbitrary: fc.tuple(fc.constantFrom("-", "NOT ", "--"), leaf).map((parts) => parts.join("")),
    },
  ),
})).node;

const groupField = fc.oneof(textColumn, fc.constantFrom("level", "msg", "id"), path);
const aggregate = fc.tuple(
  fc.oneof(
    fc.constantFrom("count()", "count( )"),
    fc.tuple(fc.constantFrom("sum", "avg", "min", "max", "p50", "p90", "p95", "p99"), path).map((
      [kind, name],
    ) => `${kind}(${name})`),
    groupField.map((name) => `count_distinct(${name})`),
  ),
  fc.oneof(
    fc.constant(""),
    fc.array(groupField, { minLength: 1, maxLength: 2 }).map((names) => ` by ${names.join(", ")}`),
  ),
).map((parts) => parts.join(""));

/** Queries at the limits of what one may hold, and one beyond. */
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
    c.repeat(Math.floor(bytes / new TextEncoder().encode(c).length))
  ),
  fc.integer({ min: 254, max: 258 }).map((length) => `msg:~"${"a".repeat(length)}"`),
);

/** A query that is right. */
export const query: fc.Arbitrary<string> = fc.oneof(
  { weight: 8, arbitrary: filter },
  { weight: 1, arbitrary: fc.constantFrom("", " \t\r\n\u00a0") },
  {
    weight: 1,
    arbitrary: fc.tuple(fc.oneof(fc.constant(""), filter), aggregate).map(([f, a]) =>
      `${f} | ${a}`
    ),
  },
);

const shards = [
  '"',
  "\\",
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  "|",
  ":",
  "-",
  "*",
  "?",
  " ",
  " OR ",
  " AND ",
  " NOT ",
  " TO ",
  "~",
  ">",
  "<",
  ">=",
  '~"',
  "x",
  "5",
  "attrs.",
  'attrs."',
  "ts:",
  "level:",
  "msg:",
  "id:",
  "service:",
  "nosuch:",
  "attrs.a:>",
  "now-",
  "|count()",
  " by ",
  ",",
  "(?=",
  "{101}",
  "[a",
  "\\1",
  "'",
  "\u00a0",
  "日",
];

/** A query that something was done to: mostly wrong, and each in its own way. */
export const mangled: fc.Arbitrary<string> = fc.oneof({
  weight: 19,
  arbitrary: fc.tuple(
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
}, { weight: 1, arbitrary: limits });
