import assert from "node:assert/strict";
import { health, newTenant, type Tenant } from "../../support/client.ts";
import { type Database, openDatabase, stopWriter } from "../../support/database.ts";
import { eventually, pause } from "../../support/eventually.ts";
import { isBack, killProcess, type ProcessName, signalIfThere } from "../../support/processes.ts";
import { complete, outcomeOf, Sender } from "../../support/sender.ts";

async function assertNothingLost(sql: Database, tenant: Tenant, sender: Sender): Promise<void> {
  assert.ok(sender.acknowledged > 0);
  assert.deepEqual(await outcomeOf(sql, tenant), complete(sender));
  await eventually("health is healthy", async () => {
    const { status, body } = await health("/ready");
    return status === 200 && body.status === "healthy";
  });
}

/**
 * Returns the writer's process while it writes the tenant's events; undefined if the writer finished before it was
 * seen.
 */
async function writerAtWork(
  sql: Database,
  tenant: Tenant,
  events: number,
): Promise<number | undefined> {
  const { pid } = await eventually("the writer writes", async () => {
    const [{ records }] = await sql`
      select count(*)::integer as records from logloom.logs where tenant_id = ${tenant.id}`;
    if (records >= events) return { pid: undefined };
    const [writer] = await sql<{ pid: number }[]>`
      select a.pid
      from pg_stat_activity a
      where a.query like '%logloom_private.work(''write'')%' and a.pid <> pg_backend_pid()
        and a.state = 'active' and a.backend_xid is not null`;
    return writer;
  }, { every: 1 });
  return pid;
}

/** Fills the queue, lets the writer begin, and kills a process meanwhile. */
async function killWhileWriting(kill: (writer: number) => Promise<void>): Promise<void> {
  const tenant = await newTenant();
  const sender = new Sender(tenant, { eventsPerRequest: 1000 });
  await using db = openDatabase(undefined, 2, { isCut: true });
  // On a busy machine the writer may finish too early; then the next batch is tried.
  const writer = await eventually("the writer is met at work", async () => {
    const stopped = await stopWriter(db);
    await sender.send(60);
    const met = writerAtWork(db, tenant, sender.acknowledged);
    await stopped[Symbol.asyncDispose]();
    return await met;
  });
  await kill(writer);
  await sender.send(5);
  await assertNothingLost(db, tenant, sender);
  assert.equal(sender.acknowledged % 60_000, 5_000);
}

Deno.test("PostgreSQL killed in the middle of a batch loses and doubles nothing", async () => {
  await killWhileWriting(async () => {
    await isBack("postgres", await killProcess("postgres"));
  });
});

Deno.test("the writer's backend killed in the middle of a batch loses and doubles nothing", async () => {
  await killWhileWriting((writer) => {
    signalIfThere(writer, "SIGKILL");
    return Promise.resolve();
  });
});

for (const name of ["postgrest", "ingest", "gateway"] as const) {
  Deno.test(`${name} killed while events come in loses and doubles nothing`, async () => {
    const tenant = await newTenant();
    // Sends without a pause, so that a request is under way at each kill.
    const sender = new Sender(tenant, { mostPerSecond: Infinity });
    await using db = openDatabase(undefined, 2, { isCut: true });
    sender.start();
    // Repeats a kill that happened between two requests.
    for (let kill = 0; kill < 2 || sender.repeats === 0 && kill < 20; kill++) {
      const before = sender.acknowledged;
      await eventually("events come in", () => Promise.resolve(sender.acknowledged > before + 500));
      await isBack(name, await killProcess(name));
    }
    const before = sender.acknowledged;
    await eventually("events come in again", () => Promise.resolve(sender.acknowledged > before));
    await sender.stop();
    assert.ok(sender.repeats > 0, "somebody noticed");
    await assertNothingLost(db, tenant, sender);
  });
}

Deno.test("after twenty kills at random every acknowledged event is there exactly once", async () => {
  const tenant = await newTenant();
  const sender = new Sender(tenant);
  await using db = openDatabase(undefined, 2, { isCut: true });
  const names: (ProcessName | "writer")[] = ["postgres", "postgrest", "ingest", "writer"];
  const victims = names.flatMap((name) => Array(5).fill(name) as typeof names)
    .map((name) => ({ name, place: Math.random() }))
    .sort((a, b) => a.place - b.place)
    .map(({ name }) => name);
  const killed = new Map<ProcessName, Awaited<ReturnType<typeof killProcess>>>();
  sender.start();
  for (const victim of victims) {
    await pause(100 + Math.random() * 600);
    if (victim === "writer") {
      const writer = await writerAtWork(db, tenant, Number.MAX_SAFE_INTEGER);
      if (writer !== undefined) signalIfThere(writer, "SIGKILL");
    } else killed.set(victim, await killProcess(victim));
  }
  // Waits only now, because an answer from before the kill could count.
  for (const [name, process] of killed) await isBack(name, process);
  const before = sender.acknowledged;
  await eventually("events come in again", () => Promise.resolve(sender.acknowledged > before));
  await sender.stop();
  console.log(
    `killed: ${
      victims.join(" ")
    }; ${sender.acknowledged} events acknowledged, ${sender.repeats} repeats`,
  );
  await assertNothingLost(db, tenant, sender);
});
