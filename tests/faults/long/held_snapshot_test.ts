import assert from "node:assert/strict";
import { newTenant } from "../../support/client.ts";
import { changeConstant, type Database, openDatabase } from "../../support/database.ts";
import { eventually, pause } from "../../support/eventually.ts";
import { complete, outcomeOf, percentile, Sender } from "../../support/sender.ts";

/** The seconds of each load. A full test takes 300. */
const seconds = Number(Deno.env.get("LOGLOOM_SOAK_SECONDS") ?? 10);

/** Incompressible bytes in each event. */
const ballast = 400;

/** The largest size of the slots: a tenth of five minutes' events. Shorter loads have no limit. */
const bound = seconds < 300 ? Infinity : 64_000_000;

interface Sample {
  depth: number;
  bytes: number;
}

async function sample(sql: Database): Promise<Sample> {
  const [{ depth, bytes }] = await sql`
    select
      (select depth::integer from logloom_private.queue_state()) as depth,
      (
        select sum(pg_total_relation_size(inhrelid))::integer from pg_inherits
        where inhparent = 'logloom_private.queue'::regclass
      ) as bytes`;
  return { depth, bytes };
}

/**
 * Sends for a while beside a forgotten transaction, and returns the sizes of the queue.
 */
async function loadBeside(
  what: string,
  forgotten: (sql: Database) => Promise<unknown>,
  meanwhile: () => Promise<unknown> = () => Promise.resolve(),
) {
  const tenant = await newTenant();
  const sender = new Sender(tenant, {
    eventsPerRequest: 500,
    pauseBetween: 100,
    ballast,
    mostPerSecond: 10_000,
  });
  await using db = openDatabase();
  await using holder = openDatabase(undefined, 1);
  // Minutes of load are more than the smallest plan allows in a month.
  await db`insert into logloom.tenants (tenant_id, plan_id) values (${tenant.id}, 'enterprise')`;
  await holder.unsafe("begin isolation level repeatable read");
  await forgotten(holder);
  // Counts only slots that are emptied from here on.
  const [{ began }] = await db`select clock_timestamp() as began`;

  sender.start(2);
  const samples: Sample[] = [];
  const end = performance.now() + seconds * 1000;
  while (performance.now() < end) {
    await pause(250);
    samples.push(await sample(db));
  }
  await sender.stop();
  assert.deepEqual(await outcomeOf(db, tenant), complete(sender));
  await meanwhile();

  const [{ emptied }] = await db`
    select count(*)::integer as emptied from logloom_private.queue_slots where truncated_at > ${began}`;
  const greatestDepth = Math.max(...samples.map(({ depth }) => depth));
  const greatestBytes = Math.max(...samples.map(({ bytes }) => bytes));
  console.log(
    `${what}, ${seconds} s: ${sender.acknowledged} events acknowledged and stored; enqueue p50 ` +
      `${percentile(sender.durations, 0.5).toFixed(1)} ms, p95 ` +
      `${percentile(sender.durations, 0.95).toFixed(1)} ms; queue at most ` +
      `${greatestDepth} events, ${(greatestBytes / 1e6).toFixed(1)} MB`,
  );
  await holder.unsafe("rollback");
  assert.ok(greatestBytes < bound, `the slots grew to ${greatestBytes} bytes`);
  return { emptied: emptied as number };
}

Deno.test("beside a forgotten snapshot the queue drains and its slots stay small", async () => {
  await using db = openDatabase();
  // On a slow machine ten seconds do not fill a slot.
  await using _soon = await changeConstant(db, "truncate_age", "interval '1 second'");
  const { emptied } = await loadBeside(
    "held snapshot",
    (sql) => sql`select count(*) from logloom.tenants`,
    () => slotsAreSmall(db),
  );
  assert.ok(emptied >= 1, `${emptied} slots were emptied`);
});

Deno.test("with a lock on its slots the queue drains, and shrinks when the lock is released", async () => {
  const { emptied } = await loadBeside(
    "held lock",
    (sql) => sql`select count(*) from logloom_private.queue`,
  );
  assert.equal(emptied, 0, "the lock was in the way");

  await using db = openDatabase();
  // A slot with little in it would be left for a minute.
  await using _soon = await changeConstant(db, "truncate_age", "interval '1 second'");
  await slotsAreSmall(db);
});

async function slotsAreSmall(sql: Database): Promise<void> {
  const sender = new Sender(await newTenant());
  await eventually("every slot is small", async () => {
    // The open slot is only closed and emptied when an event arrives.
    await sender.send(1);
    return (await sample(sql)).bytes < 2_000_000;
  }, { every: 250 });
}
