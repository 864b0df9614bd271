import { deepStrictEqual, fail } from "node:assert/strict";
import fc from "fast-check";
import { event, mangled, now, query } from "./arbitrary.ts";
import { openDatabase, type Outcome } from "./database.ts";
import { type Event, QueryError } from "./event.ts";
import { aggregateOf, groupText, type Query, readQuery } from "./language.ts";

// The compiler and a plain evaluator read the same random queries over the same random events and
// must agree on every one: which events match, what an aggregate is, and where a query is wrong.
// A run is repeated by its seed: QUERY_SEED=… QUERY_BATCHES=…

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const batches = Number(Deno.env.get("QUERY_BATCHES") ?? 130);
const eventsInBatch = 16;
const queriesInBatch = 40;

Deno.test(`right queries find what the evaluator finds, seed ${seed}`, () => agree(query));
Deno.test(`wrong queries are refused where the evaluator refuses them, seed ${seed}`, () => {
  return agree(mangled);
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
  if (tally.queries < batches * queriesInBatch) fail("fewer queries than there should be");
}

function compare(source: string, events: Event[], outcome: Outcome): void {
  // The evaluator does not weigh a regular expression.
  if (outcome.message?.endsWith("it is too complex")) return;
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
  const { aggregate } = read;
  if (!aggregate) return;
  const groups = new Map<string, Event[]>();
  if (aggregate.by.length === 0) groups.set("[]", []);
  for (const { event } of matching) {
    const name = JSON.stringify(aggregate.by.map((field) => groupText(field, event)));
    groups.set(name, [...(groups.get(name) ?? []), event]);
  }
  const values = new Map(
    outcome.groups?.map((row) => [JSON.stringify(row.slice(0, -1)), row.at(-1)]),
  );
  deepStrictEqual([...values.keys()].sort(), [...groups.keys()].sort(), source);
  for (const [name, members] of groups) {
    const found = (values.get(name) ?? null) as number | null;
    const expected = aggregateOf(aggregate, members);
    if (!isClose(found, expected)) {
      fail(`${JSON.stringify(source)}, group ${name}: ${found} is not ${expected}`);
    }
  }
}

/** Sums of doubles depend on their order; the database adds decimals. */
function isClose(found: number | null, expected: number | null): boolean {
  if (found === null || expected === null) return found === expected;
  if (!Number.isFinite(expected) || Math.abs(expected) > 1e300) return Math.abs(found) > 1e290;
  return Math.abs(found - expected) <= 1e-9 * Math.max(1, Math.abs(found), Math.abs(expected));
}
