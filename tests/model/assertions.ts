import assert from "node:assert/strict";
import type { LogRecord, Reader } from "../../packages/logloom/src/read.ts";
import type { At } from "./command.ts";
import { everything, type Kept, type Range, today } from "./tenant_model.ts";

/** Asks again if a UTC day ended meanwhile, because retention depends on the day. */
export async function onOneDay(ask: (today: number) => Promise<void>): Promise<void> {
  const asked = today();
  try {
    await ask(asked);
  } catch (error) {
    if (today() === asked) throw error;
    await ask(today());
  }
}

export const numbersOf = (records: { attrs: unknown }[]) =>
  records.map(({ attrs }) => (attrs as { n: number }).n).toSorted((a, b) => a - b);

function keptOf({ ts, level, service, msg, attrs }: LogRecord) {
  return { ts: Date.parse(ts), level, service, msg, attrs };
}

const byNumber = (a: Pick<LogRecord, "attrs">, b: Pick<LogRecord, "attrs">) =>
  Number(a.attrs?.n) - Number(b.attrs?.n);

/** Asserts that the records are exactly the expected ones, each once and in order. */
export function assertFound(found: LogRecord[], expected: Kept[], order: "asc" | "desc"): void {
  // Compares the records' numbers first, because their difference is the clearest message.
  assert.deepEqual(numbersOf(found), numbersOf(expected));
  assert.deepEqual(found.map(keptOf).toSorted(byNumber as never), expected.toSorted(byNumber));
  const places = found.map(({ ts, id }) => `${new Date(ts).toISOString()} ${id}`);
  const inOrder = places.toSorted();
  assert.deepEqual(places, order === "asc" ? inOrder : inOrder.reverse());
}

export const timesOf = ({ from, to }: Range) => ({ since: new Date(from), until: new Date(to) });

export async function all(reader: Reader, query: string, range: Range, order: "asc" | "desc") {
  return await Array.fromAsync(reader.records(query, { ...timesOf(range), order }));
}

/** Asserts that the tenant's records, counts and usage equal the model's. */
export async function assertComplete({ known, real, service }: At): Promise<void> {
  await service.settle();
  await onOneDay(async (today) => {
    const expected = known.found("ts:*", everything(), today);
    assertFound(await all(real.asOwner, "", everything(), "asc"), expected, "asc");
    const times = timesOf(everything());
    for (const by of ["level", "service"] as const) await assertCounts(real.asOwner, expected, by);
    const { total, buckets } = await real.asOwner.histogram("", times);
    const sum = buckets.reduce((sum, { count }) => sum + count, 0);
    assert.deepEqual([total, sum], [expected.length, expected.length]);
  });
  // Two months, because a run may begin in one and end in the next.
  const { months } = await real.asOwner.call("get_tenant_usage", { p_months: 2 });
  assert.equal(months.reduce((sum, { events }) => sum + events, 0), known.acknowledged);
}

/** Compares the stored counts with the expected records. */
async function assertCounts(reader: Reader, expected: Kept[], by: "level" | "service") {
  const rows = await reader.stats(`| count() by ${by}`, timesOf(everything()));
  const counts = new Map<string, number>();
  for (const record of expected) counts.set(record[by], (counts.get(record[by]) ?? 0) + 1);
  assert.deepEqual(
    Object.fromEntries(rows.map(({ group, value }) => [group[by], value])),
    Object.fromEntries(counts),
  );
}

/** Unseals all days, and finds each record once in the table. */
export async function assertStored(at: At): Promise<void> {
  const { known, real, service } = at;
  await service.settle();
  const id = real.owner.id;
  // Runs in one transaction, because the job could seal the days again before they are read.
  const rows = await service.sql.begin(async (sql) => {
    await sql`set local role postgres`;
    await sql`
      select logloom_private.unseal_day(${id}, d::date)
      from generate_series(now() - interval '60 days', now() + interval '3 days', interval '1 day') d`;
    await sql`set local role none`;
    return await sql<{ n: number }[]>`
      select (l.attrs ->> 'n')::integer as n from logloom.logs l
      where l.tenant_id = ${id} and l.ts >= logloom_private.kept_from(${id}) order by n`;
  });
  assert.deepEqual(
    rows.map(({ n }) => n),
    numbersOf(known.records.filter(({ ts }) => known.keeps(ts, today()))),
  );
  const [{ dead }] = await service.sql`
    select count(*)::integer as dead from logloom_private.dead_letters where tenant_id = ${id}`;
  assert.equal(dead, 0);
}
