import assert from "node:assert/strict";
import fc from "fast-check";
import { capturers } from "../../supabase/functions/logloom-read/loki/capturing_parsers.ts";
import { tell } from "../support/trial_counts.ts";
import { event } from "./random_queries.ts";
import { openDatabase } from "./run_queries.ts";

// LogQL's pattern and regexp, as the edge function runs them, as the database runs them, and as
// Loki's documentation describes them, here by JavaScript's RegExp.

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const { raw } = String;

const line = fc.array(
  fc.constantFrom(...["a", "b", "7", "42", " ", "=", "-", "[", "]", '"', "ms", "日", "\n", "\v"]),
  { maxLength: 14 },
).map((parts) => parts.join(""));

const piece = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom("a", "b", "=", " ", "-", raw`\[`, '"', "ms") },
  fc.tuple(
    fc.constantFrom("a", raw`\d`, raw`\w`, raw`\s`, raw`\S`, "[^ ]", "[^=-]", "[a-b7]", "."),
    fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "*?", "+?"),
  ).map((parts) => parts.join("")),
  fc.constantFrom("(?:a|b=)", "(?:a|ab)", "(?:7|42|-)", "^", "$", raw`\b`),
);
const regexp = fc.array(
  fc.oneof(
    piece,
    fc.array(piece, { minLength: 1, maxLength: 2 }).map((own) => `(${own.join("")})`),
  ),
  { minLength: 1, maxLength: 5 },
).map((parts) => {
  const named = parts.map((part, n) => part.replace(/^\((?!\?)/, `(?P<n${n}>`)).join("");
  return named.includes("?P<") ? named : `(?P<all>${named})`;
});

const between = fc.constantFrom(" ", "=", '"', "-", "[", "]", " [", "ms", '" ');
const pattern = fc.tuple(
  fc.constantFrom("", "", "a", "[", "<1>"),
  fc.array(fc.tuple(fc.boolean(), between), { minLength: 1, maxLength: 4 }),
  fc.boolean(),
).map(([first, parts, isOpen]) => {
  const texts = parts.map(([isNamed, end], n) =>
    `<${isNamed || n === 0 ? `n${n}` : "_"}>${isOpen && n === parts.length - 1 ? "" : end}`
  );
  return first + texts.join("");
});

/** What Loki makes of a line; labels without a text are none. */
function labelsOf(kind: string, source: string, text: string): Record<string, string> {
  const expression = kind === "regexp"
    ? source.replaceAll("?P<", "?<").replaceAll(raw`\s`, raw`[\t\n\f\r ]`)
      .replaceAll(raw`\S`, raw`[^\t\n\f\r ]`).replaceAll(/(?<!\\)\.(?![^[]*\])/g, raw`[^\n]`)
    : ofPattern(source);
  const groups = text === "" && kind === "pattern" ? {} : new RegExp(expression).exec(text)?.groups;
  return withText(Object.entries(groups ?? {}));
}

/** Each part is as short as it can be before the text after it, or before the end of the line. */
function ofPattern(source: string): string {
  const [first, ...parts] = source.split(/(?=<[A-Za-z_]\w*>)/);
  const isFirst = /^<[A-Za-z_]/.test(first);
  const quoted = (text: string) => text.replace(/[\\^$.*+?()[\]{}|]/g, raw`\$&`);
  const rest = (isFirst ? [first, ...parts] : parts).reduceRight((after, part) => {
    const [, name, end] = /^<(\w+)>([^]*)$/.exec(part)!;
    const group = name === "_" ? "(?:" : `(?<${name}>`;
    return end === "" ? `${group}[^]*)` : `${group}[^]*?)(?:${quoted(end)}${after}|$)`;
  }, "");
  return `^${isFirst ? "" : quoted(first)}${rest}`;
}

const withText = (entries: [string, unknown][]) =>
  Object.fromEntries(entries.filter(([, text]) => text !== undefined && text !== "")) as Record<
    string,
    string
  >;

Deno.test(`pattern and regexp of LogQL name the same parts everywhere, seed ${seed}`, async () => {
  await using database = await openDatabase();
  const records = fc.sample(event, { seed, numRuns: 60 });
  const lines = fc.sample(line, { seed, numRuns: 60 });
  const events = records.map((one, n) => {
    const id = `${String(n).padStart(8, "0")}-abcd-4abc-8abc-abcdefabcdef`;
    return { ...one, id, msg: lines[n], attrs: null };
  });
  const sources = [
    ...fc.sample(regexp, { seed, numRuns: 90 }).map((source) => ["regexp", source]),
    ...fc.sample(pattern, { seed, numRuns: 40 }).map((source) => ["pattern", source]),
  ];
  const inDatabase: { stage: string; expected: string[] }[] = [];
  for (const [kind, source] of sources) {
    const parser = capturers[kind]!(source);
    const expected = lines.map((text) => labelsOf(kind, source, text));
    for (const [n, text] of lines.entries()) {
      assert.deepEqual(withText(parser.labelsOf(text)), expected[n], `${source} on ${text}`);
    }
    if (parser.stage === undefined) continue;
    inDatabase.push({
      stage: parser.stage,
      expected: expected.map((labels, n) => JSON.stringify([events[n].id, sorted(labels)])),
    });
  }
  const outcomes = await database.run(events, inDatabase.map(({ stage }) => `| ${stage}`));
  for (const [n, { stage, expected }] of inDatabase.entries()) {
    const found = outcomes[n].records?.map(({ id, attrs }) =>
      JSON.stringify([id, sorted(withText(Object.entries(attrs ?? {})))])
    );
    assert.deepEqual(found?.sort(), expected.sort(), `${stage}: ${outcomes[n].message}`);
  }
  // Most expressions leave one way to go on.
  assert.ok(inDatabase.length > sources.length / 4, `${inDatabase.length} in the database`);
  tell({ queries: sources.length, comparisons: sources.length * lines.length });
});

function sorted(labels: Record<string, string>): [string, string][] {
  return Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
}
