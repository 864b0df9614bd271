import assert from "node:assert/strict";
import { health, newTenant, type Tenant } from "../support/client.ts";
import { type Database, openDatabase, stopWriter } from "../support/database.ts";
import { eventually, pause } from "../support/eventually.ts";
import { isBack, killProcess, type ProcessName, signalIfThere } from "../support/processes.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";

async function assertNothingLost(sql: Database, tenant: Tenant, sender: Sender): Promise<void> {
  assert.ok(sender.acknowledged > 0);
  assert.deepEqual(await outcomeOf(sql, tenant), complete(sender));
  await eventually("health is healthy", async () => {
    const { status, body } = await health("/ready");
    return status === 200 && body.status === "healthy";
  });
}

/** The process that runs the writer, as soon as it writes and not all of the tenant's events are records. */
function writerAtWork(sql: Database, tenant: Tenant, events: number): Promise<number> {
  return eventually("the writer writes", async () => {
    const [writer] = await sql`
      with written as materialized (
        select count(*) as records from logloom.logs where tenant_id = ${tenant.id}
      )
      select a.pid
      from written w
      join pg_stat_activity a on w.records < ${events}
      where a.query = 'call logloom_private.write_logs()' and a.pid <> pg_backend_pid()
        and a.state = 'active' and a.backend_xid is not null`;
    return writer?.pid as number | undefined;
  }, { every: 1 });
}

/** Fills the queue, lets the writer begin, and ends what is to be ended while it is at it. */
async function killWhileWriting(kill: (writer: number) => Promise<void>): Promise<void> {
  const tenant = await newTenant();
  const sender = new Sender(tenant, { eventsPerRequest: 1000 });
  await using db = openDatabase(undefined, 2, { isCut: true });
  {
    await using _writer = await stopWriter(db);
    await sender.send(60);
  }
  const writer = await writerAtWork(db, tenant, sender.acknowledged);
  await kill(writer);
  await sender.send(5);
  await assertNothingLost(db, tenant, sender);
  assert.equal(sender.acknowledged, 65_000);
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
    // Without a pause: a request is on its way whenever a part is killed.
    const sender = new Sender(tenant, { mostPerSecond: Infinity });
    await using db = openDatabase(undefined, 2, { isCut: true });
    sender.start();
    for (let kill = 0; kill < 2; kill++) {
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
  sender.start();
  for (const victim of victims) {
    await pause(100 + Math.random() * 600);
    if (victim === "writer") {
      signalIfThere(await writerAtWork(db, tenant, Number.MAX_SAFE_INTEGER), "SIGKILL");
    } else await killProcess(victim);
  }
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
