import { deepStrictEqual, fail } from "node:assert/strict";
import fc from "fast-check";
import { event, mangled, now, query } from "./random_queries.ts";
import { openDatabase, type Outcome, range, type Row, timestamp } from "./run_queries.ts";
import { compareDecimals, numberOf } from "./decimal.ts";
import { compareText, type Event, isRecord, type Json, QueryError } from "./event.ts";
import { attributeOf, type Field, groupText } from "./field.ts";
import { type Query, readQuery } from "./evaluator.ts";
import { aggregateOf, type Plan, type Results } from "./stages.ts";
import { tell } from "../support/trial_counts.ts";

// The compiler and a simple evaluator run the same random queries over the same random events. They
// must agree on which events match, on the values of aggregates, and on the position of errors.
// To repeat a run: QUERY_SEED=… QUERY_BATCHES=…

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const batches = Number(Deno.env.get("QUERY_BATCHES") ?? 60);
const eventsInBatch = 16;
const queriesInBatch = 40;

// The queries run in parallel, because the database has more than one processor.
Deno.test(`compiler and evaluator agree on matches, values and errors, seed ${seed}`, async () => {
  await Promise.all([agree(query), agree(mangled)]);
});

async function agree(queries: fc.Arbitrary<string>): Promise<void> {
  await using database = await openDatabase();
  const tally = { queries: 0, matching: 0, refused: 0 };
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { minLength: eventsInBatch, maxLength: eventsInBatch }),
      fc.array(queries, { minLength: queriesInBatch, maxLength: queriesInBatch }),
      async (events, sources) => {
        const outcomes = await database.run(events, sources);
        sources.forEach((source, i) => {
          compare(source, events, outcomes[i]);
          tally.queries++;
          if (outcomes[i].position !== undefined) tally.refused++;
          if (outcomes[i].matches?.length) tally.matching++;
        });
      },
    ),
    { seed, numRuns: batches, endOnFailure: Deno.env.has("QUERY_NO_SHRINK") },
  );
  console.log(
    `seed ${seed}: ${tally.queries} queries over ${eventsInBatch} events each, ` +
      `${tally.matching} with matches, ${tally.refused} refused`,
  );
  tell({ queries: tally.queries, comparisons: tally.queries * eventsInBatch });
  if (tally.queries < batches * queriesInBatch) fail("too few queries");
}

function compare(source: string, events: Event[], outcome: Outcome): void {
  // The evaluator does not limit the complexity of a regular expression.
  if (outcome.message?.startsWith("Regular expression: it is too complex")) return;
  let read: Query;
  try {
    read = readQuery(source, now);
  } catch (error) {
    if (!(error instanceof QueryError)) throw error;
    deepStrictEqual(
      { sqlstate: outcome.sqlstate, position: outcome.position },
      { sqlstate: "PT400", position: error.position },
      `${JSON.stringify(source)}: ${JSON.stringify(outcome)} but ${error.message}`,
    );
    return;
  }
  const matching = events.map((event, n) => ({ event, n })).filter(({ event }) =>
    read.matches(event)
  );
  deepStrictEqual(
    outcome.matches,
    matching.map(({ n }) => n),
    `${JSON.stringify(source)}: ${JSON.stringify(outcome)}`,
  );
  const found = matching.map(({ event }) => event);
  if (outcome.rows) compareRows(source, read.plan, staged(read.plan, found), outcome.rows);
  if (outcome.records) {
    const expected = staged(read.plan, found).map((event) => shown(read.plan, event));
    const text = (one: unknown) => JSON.stringify(one, sorted);
    deepStrictEqual(
      outcome.records.map((one) => text({ ...one, ts: Date.parse(one.ts) })).sort(),
      expected.map(text).sort(),
      source,
    );
  }
}

/** Sorts the members of objects, to compare them as text. */
function sorted(_: string, value: Json): Json {
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function compareRows(source: string, plan: Plan, events: Event[], rows: Row[]): void {
  const key = (group: (string | null)[]) => JSON.stringify(group);
  const groups = new Map<string, Event[]>();
  if (plan.by.length === 0 && plan.bucket === null) groups.set("[]", []);
  for (const event of events) {
    const name = key(groupOf(plan, event));
    groups.set(name, [...(groups.get(name) ?? []), event]);
  }
  const minutes = (plan.bucket ?? (range.to - range.from) / 1e6) / 60;
  const valuesOf = (members: Event[]) => {
    const results: Results = {};
    for (const aggregate of plan.aggregates) {
      const value = aggregateOf(aggregate, members);
      results[aggregate.name] = aggregate.kind === "rate" ? (value ?? 0) / minutes : value;
    }
    for (const { name, formula } of plan.math) results[name] = formula(results);
    return names.map((name) => results[name]);
  };
  const names = plan.results;
  // A sum may differ in its last digit, and the stage `where` may depend on this digit.
  const exact = ["count", "count_distinct", "min", "max"];
  const isExact = plan.having.every(({ name }) =>
    plan.aggregates.every((one) =>
      exact.includes(one.kind) || plan.results.indexOf(name) < plan.aggregates.length &&
        one.name !== name
    )
  );
  const left = [...groups].filter(([, members]) => {
    const values = valuesOf(members);
    return plan.having.every(({ name, operator, number }) => {
      const value = values[names.indexOf(name)];
      return value !== null && holds[operator](value, number);
    });
  });
  const keys = [...(plan.bucket === null ? [] : ["ts"]), ...plan.by.map(({ name }) => name)];
  for (const row of rows) {
    const group = key(keys.map((name) => row.group[name]));
    const members = groups.get(group);
    if (!members) return fail(`${JSON.stringify(source)}: no group ${group}`);
    const expected = valuesOf(members);
    names.forEach((name, i) => {
      if (!isClose(row.values[name], expected[i])) {
        fail(
          `${JSON.stringify(source)}, group ${group}: ${row.values[name]} is not ${expected[i]}`,
        );
      }
    });
  }
  if (!isExact) return;
  deepStrictEqual(rows.length, Math.min(left.length, plan.limit ?? left.length), source);
  if (rows.length > 0) deepStrictEqual(rows[0].total, left.length, source);
  rows.slice(1).forEach((row, i) => {
    if (compareOrder(plan, rows[i], row) > 0) fail(`${JSON.stringify(source)}: order of ${i}`);
  });
}

/** Sorts by the keys of sort with nulls last, or by the bucket and the first value. */
function compareOrder(plan: Plan, a: Row, b: Row): number {
  const byDefault = [
    ...(plan.bucket === null ? [] : [{ name: "ts", descending: false }]),
    { name: plan.value, descending: true },
  ];
  const isValue = (name: string) => plan.results.includes(name);
  for (const { name, descending } of [...plan.sort, ...byDefault]) {
    const [x, y] = [a, b].map((row) => isValue(name) ? row.values[name] : row.group[name]);
    if (x === y) continue;
    if (x === null) return 1;
    if (y === null) return -1;
    const isAttribute = plan.by.some((one) => one.name === name && one.field.kind === "attrs");
    const [m, n] = [x, y].map((value) => isAttribute ? numberOf(value) : null);
    // Numbers in any notation come before other texts, ascending or descending.
    if ((m === null) !== (n === null)) return m === null ? 1 : -1;
    const order = (m && n && compareDecimals(m, n)) ||
      (typeof x === "string" || typeof y === "string" ? compareText(String(x), String(y)) : x - y);
    return descending ? -order : order;
  }
  return 0;
}

const holds: Record<string, (value: number, number: number) => boolean> = {
  ">": (value, number) => value > number,
  ">=": (value, number) => value >= number,
  "<": (value, number) => value < number,
  "<=": (value, number) => value <= number,
  "=": (value, number) => value === number,
  "!=": (value, number) => value !== number,
};

/** Returns the beginning of a bucket, in seconds since 1970; weeks begin on Mondays. */
function startOf(seconds: number, width: number): number {
  const origin = width % 604800 === 0 ? 4 * 86400 : 0;
  return Math.floor((seconds - origin) / width) * width + origin;
}

function groupOf(plan: Plan, event: Event): (string | null)[] {
  const bucket = plan.bucket === null
    ? []
    : [`${timestamp(startOf(event.ts / 1e6, plan.bucket) * 1e6).slice(0, 19)}Z`];
  return [...bucket, ...plan.by.map(({ field }) => groupText(field, event))];
}

/** Returns the events after the stages json, logfmt and where. */
function staged(plan: Plan, events: Event[]): Event[] {
  let left = events;
  for (const stage of plan.rows) {
    if ("where" in stage) {
      left = left.filter(stage.where);
      continue;
    }
    left = left.map((event) => {
      const text = groupText(stage.field, event);
      const found = text === null ? {} : stage.extract(text);
      if (Object.keys(found).length === 0) return event;
      return { ...event, attrs: { ...found, ...event.attrs } };
    });
  }
  return left;
}

function shown({ fields }: Plan, event: Event) {
  const all = fields.length === 0;
  const has = (name: string) =>
    all || fields.some((one) => one.kind === "text" && one.name === name);
  const paths = fields.filter((one) => one.kind === "attrs");
  return {
    id: event.id,
    ts: Math.floor(event.ts / 1000),
    msg: has("msg") ? event.msg : null,
    service: has("service") ? event.service : null,
    attrs: all ? event.attrs : paths.length === 0 ? null : picked(event, paths),
  };
}

/** Picks attributes, nested as before. */
function picked(event: Event, paths: (Field & { kind: "attrs" })[]): Event["attrs"] {
  const result: { [key: string]: Json } = {};
  for (const field of paths) {
    const value = attributeOf(field, event) ?? null;
    const nested = attributeOf({ ...field, joined: false }, event) ?? null;
    if (nested !== null) {
      let at = result;
      for (const key of field.path.slice(0, -1)) {
        const held = Object.hasOwn(at, key) ? at[key] : undefined;
        const inner = isRecord(held) ? { ...held } : {};
        at[key] = inner;
        at = inner;
      }
      at[field.path[field.path.length - 1]] = nested;
    } else if (field.joined && event.attrs && Object.hasOwn(event.attrs, field.path.join("."))) {
      result[field.path.join(".")] = value;
    }
  }
  return Object.keys(result).length === 0 ? null : result;
}

/** The database sums exact decimals, this test sums doubles, so the last digits may differ. */
function isClose(found: number | null, expected: number | null): boolean {
  if (found === null || expected === null) return found === expected;
  if (!Number.isFinite(expected) || Math.abs(expected) > 1e300) return Math.abs(found) > 1e290;
  return Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(found), Math.abs(expected));
}
