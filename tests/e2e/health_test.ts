import assert from "node:assert/strict";
import { away as shownWhileAway } from "../../supabase/functions/health/database_unreachable.ts";
import {
  type Answer,
  apiKey,
  assertAnswer,
  bearer,
  health,
  ingest,
  newTenant,
} from "../support/client.ts";
import {
  changeSettings,
  type Database,
  openDatabase,
  recordsOf,
  stopJob,
  stopWriter,
} from "../support/database.ts";
import { becomes, eventually } from "../support/eventually.ts";
import { freezePostgres, keepDown } from "../support/processes.ts";
import { stack } from "../support/stack.ts";

interface Report {
  status: string;
  timestamp: string;
  checks: {
    queue: Record<string, unknown>;
    writer: Record<string, unknown>;
    partitions: Record<string, unknown>;
  };
}

const endpoints = ["/ready", "/queue", "/writer", "/partitions", "/detailed"];
const partition = /^logs_\d{4}_\d\d_\d\d$/;

async function ask(endpoint: string): Promise<Answer<Report>> {
  return await health(endpoint) as unknown as Answer<Report>;
}

/** Returns the HTTP status and the health status of each endpoint, by name. */
async function statuses(): Promise<Record<string, [number, string]>> {
  const answers = endpoints.map(async (endpoint): Promise<[string, [number, string]]> => {
    const { status, body } = await ask(endpoint);
    return [endpoint.slice(1), [status, body.status]];
  });
  return Object.fromEntries(await Promise.all(answers));
}

const allHealthy = {
  ready: [200, "healthy"],
  queue: [200, "healthy"],
  writer: [200, "healthy"],
  partitions: [200, "healthy"],
  detailed: [200, "healthy"],
};

/** Waits for these statuses. With a slow database, health shows it as unreachable for a while. */
const areStatuses = (expected: Record<string, (number | string)[]>) => becomes(expected, statuses);

const isHealthyAgain = () => areStatuses(allHealthy);

/** Stops the writer without health noticing it. */
async function stopUnmissed(db: Database): Promise<AsyncDisposable> {
  await using all = new AsyncDisposableStack();
  all.use(
    await changeSettings(db, {
      writer_degraded_silence: "1 hour",
      writer_unhealthy_silence: "2 hours",
    }),
  );
  all.use(await changeJobLimit(db, "write_logs", "1 hour"));
  all.use(await stopWriter(db));
  return all.move();
}

/** Returns the names of an object's members, recursively. */
function membersOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return null;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [name, membersOf(member)]),
  );
}

Deno.test("while the database is unreachable, health shows the same members as the database", async () => {
  const views = shownWhileAway(new Date(), "");
  for (const endpoint of endpoints) {
    const { checks } = (await ask(endpoint)).body;
    // All checks but the database's.
    const { database: _, ...shown } = JSON.parse(
      JSON.stringify(
        views[endpoint.slice(1)]?.checks,
        (name, value) => name === "reason" ? undefined : value,
      ),
    ) as Record<string, unknown>;
    // Without the database the report leaves out checks that only the database can grade.
    const here = Object.fromEntries(Object.entries(checks).filter(([name]) => name in shown));
    assert.deepEqual(membersOf(shown), membersOf(here), endpoint);
    if (endpoint !== "/detailed") assert.deepEqual(Object.keys(checks), Object.keys(shown));
  }
});

Deno.test("each endpoint shows what it is documented to show", async () => {
  await isHealthyAgain();
  const before = Date.now();
  const { status, body: { timestamp, ...basic }, headers } = await health();
  assert.deepEqual([status, basic], [200, { status: "healthy", message: "Logloom is running" }]);
  assert.match(String(timestamp), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.ok(Math.abs(Date.parse(String(timestamp)) - before) < 60_000);
  assert.equal(headers.get("content-type"), "application/json");
  assert.equal(headers.get("cache-control"), "no-store");

  const ready = (await ask("/ready")).body.checks;
  assert.deepEqual(Object.keys(ready), ["queue", "writer"]);
  assert.deepEqual(Object.keys(ready.queue), ["depth"]);
  assert.equal(typeof ready.queue.depth, "number");
  assert.deepEqual(ready.writer, { status: "healthy" });

  const { queue } = (await ask("/queue")).body.checks;
  assert.equal(typeof queue.depth, "number");
  assert.equal(typeof queue.oldest_item_age_seconds, "number");

  const { writer } = (await ask("/writer")).body.checks;
  assert.ok(Math.abs(Date.parse(String(writer.last_run)) - Date.now()) < 60_000);
  assert.ok(Number(writer.last_duration_ms) > 0 && Number(writer.last_duration_ms) < 60_000);
  assert.ok(Number(writer.seconds_since_run) >= 0 && Number(writer.seconds_since_run) < 60);

  const { partitions } = (await ask("/partitions")).body.checks;
  const { current_partition, next_partition, ...exist } = partitions;
  assert.match(String(current_partition), partition);
  assert.match(String(next_partition), partition);
  assert.deepEqual(exist, { current_exists: true, next_exists: true });
  const dayOf = (name: unknown) => Date.parse(String(name).slice(5).replaceAll("_", "-"));
  assert.equal(dayOf(next_partition) - dayOf(current_partition), 86_400_000);
  assert.ok(Date.now() - dayOf(current_partition) < 86_400_000 + 60_000);

  const detailed = (await ask("/detailed")).body.checks;
  for (const member of ["depth", "oldest_item_age_seconds"]) {
    assert.equal(typeof detailed.queue[member], "number", member);
  }
  assert.equal(typeof detailed.writer.last_run, "string");
  assert.equal(typeof detailed.writer.last_duration_ms, "number");
  assert.equal(detailed.partitions.current_exists, true);
  assert.equal(detailed.partitions.next_exists, true);
  // Only the key's name is shown.
  const { service_key } = detailed as unknown as Record<string, unknown>;
  assert.deepEqual(service_key, { name: "default" });
});

Deno.test("HEAD answers as GET, other methods are 405, unknown endpoints 404", async () => {
  for (const endpoint of ["", ...endpoints]) {
    const { status, body, headers } = await health(endpoint, { method: "HEAD" });
    assert.deepEqual([status, body], [200, ""], endpoint);
    assert.equal(headers.get("content-type"), "application/json");
    for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
      const answer = await health(endpoint, { method });
      assertAnswer(answer, 405, { error: `Method not allowed: ${method}` });
      assert.equal(answer.headers.get("allow"), "GET, HEAD, OPTIONS");
    }
  }
  for (const endpoint of ["/unknown", "/ready/now", "/detailed/queue"]) {
    const { status, body } = await health(endpoint);
    assert.deepEqual([status, body], [404, { error: "Unknown health endpoint" }], endpoint);
  }
});

Deno.test("credentials, right or wrong, change nothing about health", async () => {
  for (const headers of [bearer("nonsense"), apiKey("ll_x")]) {
    assert.equal((await health("/ready", { headers })).status, 200);
  }
});

Deno.test("a stopped writer makes health degraded, then unhealthy", async () => {
  await isHealthyAgain();
  await using db = openDatabase();
  {
    await using _writer = await stopWriter(db);
    await using _degraded = await changeSettings(db, { writer_degraded_silence: "0.2 seconds" });
    await areStatuses({
      ...allHealthy,
      ready: [503, "degraded"],
      writer: [200, "degraded"],
      detailed: [200, "degraded"],
    });
    const { body } = await ask("/ready");
    const { status, reason } = body.checks.writer;
    assert.equal(status, "degraded");
    assert.match(String(reason), /^No run of the writer succeeded for \d+ s \(limit 0.2 s\)$/);
    await using _unhealthy = await changeSettings(db, { writer_unhealthy_silence: "0.2 seconds" });
    await areStatuses({
      ...allHealthy,
      ready: [503, "unhealthy"],
      writer: [200, "unhealthy"],
      detailed: [503, "unhealthy"],
    });
    const { seconds_since_run } = (await ask("/writer")).body.checks.writer;
    assert.ok(Number(seconds_since_run) >= 0.2);
    assert.equal((await health()).status, 200);
  }
  await isHealthyAgain();
});

Deno.test("health shows a deep and an old queue, and counts its events", async () => {
  await isHealthyAgain();
  const tenant = await newTenant();
  await using db = openDatabase();
  {
    await using _writer = await stopUnmissed(db);
    // The age of the queue is tested later.
    await using _patient = await changeSettings(db, { queue_degraded_age: "1 hour" });
    const depth = async () => Number((await ask("/queue")).body.checks.queue.depth);
    const before = await depth();
    await ingest(tenant.headers, Array(30).fill({}));
    await ingest(tenant.headers, Array(20).fill({}));
    assert.equal(await depth() - before, 50);
    assert.equal((await ask("/ready")).body.checks.queue.depth, before + 50);
    assert.equal((await ask("/detailed")).body.checks.queue.depth, before + 50);

    const degraded = {
      ...allHealthy,
      ready: [503, "degraded"],
      queue: [200, "degraded"],
      detailed: [200, "degraded"],
    };
    {
      await using _deep = await changeSettings(db, { queue_degraded_events: 50 + before });
      await areStatuses(allHealthy);
    }
    {
      await using _deep = await changeSettings(db, { queue_degraded_events: 49 + before });
      await areStatuses(degraded);
    }
    await using _old = await changeSettings(db, { queue_degraded_age: "0.2 seconds" });
    await areStatuses(degraded);
    assert.ok(Number((await ask("/queue")).body.checks.queue.oldest_item_age_seconds) > 0.2);
    await using _older = await changeSettings(db, { queue_unhealthy_age: "0.2 seconds" });
    await areStatuses({
      ...allHealthy,
      ready: [503, "unhealthy"],
      queue: [200, "unhealthy"],
      detailed: [503, "unhealthy"],
    });
  }
  await isHealthyAgain();
  assert.equal((await recordsOf(db, tenant.id, 50)).length, 50);
});

Deno.test("health is degraded if tomorrow's partition is missing, and unhealthy if today's is", async () => {
  await isHealthyAgain();
  await using db = openDatabase(stack.databaseUrl, 1);
  await using admin = openDatabase();
  // The writer and the job would create the missing partition.
  await using _writer = await stopUnmissed(admin);
  await using _job = await stopJob(admin, "maintain_partitions");
  const { current_partition, next_partition } = (await ask("/partitions")).body.checks.partitions;
  {
    await using _tomorrow = await detach(db, String(next_partition));
    await areStatuses({
      ...allHealthy,
      ready: [503, "degraded"],
      partitions: [200, "degraded"],
      detailed: [200, "degraded"],
    });
    const { partitions } = (await ask("/partitions")).body.checks;
    assert.deepEqual([partitions.current_exists, partitions.next_exists], [true, false]);
  }
  {
    await using _today = await detach(db, String(current_partition));
    await areStatuses({
      ...allHealthy,
      ready: [503, "unhealthy"],
      partitions: [200, "unhealthy"],
      detailed: [503, "unhealthy"],
    });
    const { partitions } = (await ask("/partitions")).body.checks;
    assert.deepEqual([partitions.current_exists, partitions.next_exists], [false, true]);
  }
  await isHealthyAgain();
});

async function detach(db: Database, name: string): Promise<AsyncDisposable> {
  // The partition's rows are missing meanwhile, but nobody else uses this stack.
  const day = name.slice(5).replaceAll("_", "-");
  await db.unsafe(`alter table logloom.logs detach partition logloom.${name}`);
  return {
    async [Symbol.asyncDispose]() {
      await db.unsafe(`
        alter table logloom.logs attach partition logloom.${name}
        for values from ('${day}Z') to ('${day}Z'::timestamptz + interval '1 day')`);
    },
  };
}

const away = {
  ready: [503, "unhealthy"],
  queue: [200, "unhealthy"],
  writer: [200, "unhealthy"],
  partitions: [200, "unhealthy"],
  detailed: [503, "unhealthy"],
};

async function assertAway(): Promise<void> {
  // All answers come at once, although the database is unreachable.
  assert.deepEqual(await statuses(), away);
  const { checks } = (await ask("/detailed")).body;
  assert.equal(checks.queue.depth, null);
  assert.equal(checks.queue.oldest_item_age_seconds, null);
  assert.equal(checks.writer.status, "unhealthy");
  assert.equal(checks.writer.last_run, null);
  assert.equal(checks.writer.last_duration_ms, null);
  assert.match(String(checks.partitions.current_partition), partition);
  assert.equal((await health()).body.status, "healthy");
}

Deno.test("while the writer's job is paused and ingest runs the writer, ready names the check that is degraded", async () => {
  await isHealthyAgain();
  const tenant = await newTenant();
  await using db = openDatabase();
  {
    await using _writer = await stopWriter(db);
    await using _soon = await changeJobLimit(db, "write_logs", "0.2 seconds");
    const { status, body } = await eventually("ready is 503", async () => {
      await db`select logloom_private.record_job('run_writer', clock_timestamp())`;
      const answer = await ask("/ready");
      return answer.status === 503 && answer.body.status === "degraded" && answer;
    });
    assert.deepEqual([status, body.status], [503, "degraded"]);
    assert.equal(body.checks.writer.status, "healthy");
    const { jobs } = body.checks as unknown as {
      jobs: Record<string, { status: string; reason: string }>;
    };
    assert.deepEqual(Object.keys(jobs), ["write_logs"]);
    assert.match(
      jobs.write_logs.reason,
      /^No run of the paused job succeeded for \d+ s \(limit 0.2 s\)$/,
    );
    // A load balancer asks for /health, which stays 200, because events are accepted.
    assert.equal((await health()).status, 200);
    assert.equal((await ingest(tenant.headers, [{ msg: "taken" }])).status, 200);
  }
  await isHealthyAgain();
});

async function changeJobLimit(
  db: Database,
  job: string,
  silence: string,
): Promise<AsyncDisposable> {
  const [before] = await db`
    select silence::text from logloom_private.jobs where name = ${job}`;
  const set = (value: string) =>
    db`update logloom_private.jobs set silence = ${value}::text::interval where name = ${job}`;
  await set(silence);
  return {
    async [Symbol.asyncDispose]() {
      await set(before.silence);
    },
  };
}

Deno.test("while PostgREST is down, health says so and does not blame the writer", async () => {
  await isHealthyAgain();
  {
    await using _down = await keepDown("postgrest");
    const { status, body } = await ask("/ready");
    assert.deepEqual([status, body.status], [503, "unhealthy"]);
    const { database, queue, writer } = body.checks as unknown as Record<string, unknown>;
    const reason = "Not known: PostgREST does not answer";
    assert.deepEqual([database, queue, writer], [
      { status: "unhealthy", reason: "PostgREST does not answer" },
      { depth: null, reason },
      { status: "unhealthy", reason },
    ]);
    assert.equal((await ask("/queue")).body.checks.queue.reason, reason);
  }
  await isHealthyAgain();
});

async function assertIngestIsUnavailable(headers: Record<string, string>): Promise<void> {
  const answer = await ingest(headers, [{ msg: "not now" }]);
  assertAnswer(answer, 503, { error: "The database is unavailable, try again" });
  assert.match(String(answer.headers.get("retry-after")), /^[1-5]$/);
}

Deno.test("a database that is down is reported at once, and events are refused", async () => {
  await isHealthyAgain();
  const tenant = await newTenant();
  {
    await using _down = await keepDown("postgres");
    // Sessions outlive a killed server for a moment.
    await areStatuses(away);
    await assertAway();
    await assertIngestIsUnavailable(tenant.headers);
  }
  await isHealthyAgain();
});

Deno.test("a hanging database is reported at once", async () => {
  await isHealthyAgain();
  {
    using _frozen = await freezePostgres();
    await assertAway();
  }
  await isHealthyAgain();
});
