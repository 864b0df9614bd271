import type postgres from "postgres";
import { connect } from "./database.ts";
import { Failure, run } from "./exit_on_failure.ts";
import { withPostgres } from "./lone_postgres.ts";
import { readOptions } from "./options.ts";
import { dumpInto, dumps, restoreFrom } from "./restore.ts";
import type { Stack } from "./stack.ts";
import { runningState } from "./stack_state.ts";
import { prepareSystem, type System } from "./system.ts";

// npm run drill: dumps a running stack's database, restores it beside the stack, repairs and verifies it.

const silent = () => {};

await run(async () => {
  const { stack } = readOptions([]);
  const state = await runningState(stack);
  if (state?.status !== "ready") {
    throw new Failure(`The ${stack.name} stack does not run; npm start starts it.`);
  }
  if (state.workers > 0) {
    throw new Failure("Records are sharded over nodes, and a dump of the first one has none.");
  }
  if (stack.name === "drill") throw new Failure("A drill's own stack is not dumped.");
  const system = await prepareSystem(silent);
  // The copy's jobs must not write, delete, send or evaluate anything.
  const settings = { "cron.launch_active_jobs": "off" };
  const found = await withPostgres(system, "drill", (copy) => drill(system, stack, copy), settings);
  if (found > 0) Deno.exit(1);
});

/** Restores and verifies the dump. Returns the number of differences and errors. */
async function drill(system: System, stack: Stack, copy: Stack): Promise<number> {
  const folder = `${system.folder(copy)}/dump`;
  const log = `${copy.folder}/logs/restore`;
  const source = connect(stack.databaseUrl);
  // Connects as the owner, like the repair of a hosted project, but without a statement timeout.
  const target = connect(copy.databaseUrl, { statement_timeout: 0 });
  try {
    // Events sent before yesterday are no longer in the queue.
    const [{ day }] = await source<{ day: string }[]>`
      select (logloom_private.utc_day(now()) - 1)::text as day`;
    await step("dump", () => dumpInto(system, stack.databaseUrl, folder), sizeOf(system, folder));
    await step("restore", () => restoreFrom(system, folder, copy.databaseUrl, log));
    const errors = errorsIn(await Deno.readTextFile(log));
    await step("repair", () => target`select logloom_private.repair()`);
    const [{ waited }] = await target<{ waited: number }[]>`
      select depth::integer as waited from logloom_private.queue_state()`;
    await step("write", () => target.unsafe("call logloom_private.run_job('write_logs')"));
    // A verification that ran during the dump would continue in its middle.
    await target`delete from logloom_private.verifications where finished_at is null`;
    await step("verify", () => target.unsafe("call logloom_private.verify()"));

    const [{ blocks, records, differences, tenants }] = await target<Verified[]>`
      select v.blocks::integer, v.records::integer, v.differences::integer,
        (select count(*) from logloom.tenants)::integer as tenants
      from logloom_private.verifications v order by v.verification_id desc limit 1`;
    const lost = missing(
      await acknowledgedSince(source, day),
      await acknowledgedSince(target, day),
    );
    console.log(
      `\n${count(records, "record")} of ${count(tenants, "tenant")} are restored, ` +
        `in rows and ${count(blocks, "block")}. ${count(waited, "event")} waited in the queue.`,
    );
    console.log(`${count(lost, "event")} acknowledged since the dump began are not in it.`);
    for (const error of errors) console.log(error);
    console.log(`${count(differences, "difference")} found.`);
    for (const { kind, tenant_id, day, detail } of await differencesIn(target)) {
      console.log(`  ${kind} of ${tenant_id}, ${day}: ${detail}`);
    }
    return differences + errors.length;
  } finally {
    await Promise.all([source.end(), target.end()]);
  }
}

interface Verified {
  blocks: number;
  records: number;
  differences: number;
  tenants: number;
}

/** Runs a step and prints its time and result. */
async function step(
  name: string,
  work: () => Promise<unknown>,
  remark: () => Promise<string> = () => Promise.resolve(""),
): Promise<void> {
  const began = performance.now();
  await work();
  const seconds = ((performance.now() - began) / 1000).toFixed(1);
  console.log(`${name.padEnd(8)} ${seconds.padStart(7)} s   ${await remark()}`.trimEnd());
}

function sizeOf(system: System, folder: string): () => Promise<string> {
  return async () => {
    let bytes = 0;
    for (const { file } of dumps) {
      bytes += (await Deno.stat(system.outside(`${folder}/${file}`))).size;
    }
    return `${(bytes / 1e6).toFixed(1)} MB`;
  };
}

/** Returns the errors of psql, except about objects that a new project has already. */
function errorsIn(log: string): string[] {
  return log.split("\n").filter((line) => /ERROR:/.test(line) && !/already exists$/.test(line));
}

/**
 * How many events each tenant sent since a day, in the queue or in a partition. Both counts are read in one snapshot.
 */
async function acknowledgedSince(sql: postgres.Sql, day: string): Promise<Map<string, number>> {
  const rows = await sql<{ tenant_id: string; events: number }[]>`
    select a.tenant_id, sum(a.events)::integer as events
    from (
      select u.tenant_id, u.events from logloom.usage_days u where u.day >= ${day}
      union all
      select q.tenant_id, q.events
      from logloom_private.queue q
      join logloom_private.queue_pointer p on q.batch_id > p.metered_through
      where logloom_private.utc_day(q.received_at) >= ${day}
    ) a
    group by a.tenant_id`;
  return new Map(rows.map(({ tenant_id, events }) => [tenant_id, events]));
}

/** Returns how many events the copy lacks. A tenant that was deleted meanwhile does not count. */
function missing(source: Map<string, number>, copy: Map<string, number>): number {
  return [...source].reduce(
    (sum, [tenant, events]) => sum + Math.max(events - (copy.get(tenant) ?? 0), 0),
    0,
  );
}

function differencesIn(sql: postgres.Sql) {
  return sql<{ kind: string; tenant_id: string; day: string; detail: string }[]>`
    select d.kind, d.tenant_id, d.day::text, d.detail
    from logloom_private.verification_differences d
    where d.verification_id = (select max(v.verification_id) from logloom_private.verifications v)
    order by d.difference_id limit 20`;
}

function count(number: number, word: string): string {
  return `${number.toLocaleString("en")} ${word}${number === 1 ? "" : "s"}`;
}
