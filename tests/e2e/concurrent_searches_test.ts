import assert from "node:assert/strict";
import type { CreatedApiKey } from "../../packages/logloom/src/read.ts";
import {
  type Answer,
  apiKey,
  assertAnswer,
  call,
  clientOf,
  createKey,
  ingest,
  newTenant,
  rpc,
  type Tenant,
} from "../support/client.ts";
import { changeSettings, type Database, openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";

/** Lets every read of records wait until the end of the scope, so that all searches are slow. */
async function holdSearches(db: Database): Promise<AsyncDisposable> {
  const held = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const transaction = db.begin(async (tx) => {
    await tx`lock table logloom.logs in access exclusive mode`;
    held.resolve();
    await go.promise;
  });
  await Promise.race([held.promise, transaction]);
  return {
    async [Symbol.asyncDispose]() {
      go.resolve();
      await transaction;
    },
  };
}

interface Flight {
  answers: Answer[];
  all: Promise<unknown>;
}

function fly(requests: Promise<Answer>[]): Flight {
  const answers: Answer[] = [];
  return { answers, all: Promise.all(requests.map(async (r) => answers.push(await r))) };
}

function assertBusy({ status, headers, body }: Answer, what: string): void {
  assert.deepEqual(
    [status, body.code, body.message, headers.get("retry-after")],
    [429, "PT429", `Too many ${what}`, "1"],
  );
}

const search = ({ token }: Tenant) => rpc(token, "search_logs", { p_query_dsl: "anything" });

/** Calls an operation with an API key, or the token of a portal session. */
const readBy = (secret: string, operation: string, p_query_dsl: string) =>
  call(`/functions/v1/logloom-read/v1/${operation}`, {
    method: "POST",
    headers: apiKey(secret),
    body: JSON.stringify({ p_query_dsl }),
  });

const searchBy = (secret: string) => readBy(secret, "search_logs", "anything");

const countAll = ["log_stats", "number | count()"] as const;

const count = ({ token }: Tenant) => rpc(token, countAll[0], { p_query_dsl: countAll[1] });

const counted = ({ status, body }: Answer) => {
  const [group] = body as unknown as { value: number }[];
  return [status, group.value];
};

/** Returns how many searches wait for a scan slot. */
async function waiting(db: Database): Promise<number> {
  const [{ waiting }] = await db`
    select count(*)::integer as waiting from pg_stat_activity a
    where a.usename = 'authenticator' and a.wait_event = 'PgSleep'`;
  return waiting;
}

const numbers = Array.from({ length: 5000 }, (_, n) => ({ msg: `number ${n}` }));

/** Makes a request of every operation that reads records. */
function everyKind({ token }: Tenant, count: number): Promise<Answer>[] {
  const ts_from = new Date(Date.now() - 60_000).toISOString();
  const preview = { p_threshold: 1, p_comparison: "gt", p_window_minutes: 5 };
  const kinds: [string, Record<string, unknown>][] = [
    ["search_logs", {}],
    ["log_stats", { p_query_dsl: "anything" }],
    ["log_histogram", { p_query_dsl: "anything" }],
    ["list_log_fields", { p_ts_from: ts_from }],
    ["get_log", { p_id: crypto.randomUUID() }],
    ["preview_alert_rule", { p_query_dsl: "anything", ...preview }],
    ["delete_logs", { p_query_dsl: "anything", p_ts_from: ts_from, p_ts_to: "now" }],
  ];
  return Array.from({ length: count }, (_, n) => rpc(token, ...kinds[n % kinds.length]));
}

const slotsHeld = async (db: Database): Promise<number> => {
  const [{ held }] = await db`
    select count(distinct l.pid)::integer as held
    from pg_locks l join pg_stat_activity a using (pid)
    where l.locktype = 'advisory' and l.granted and a.usename = 'authenticator'
      and a.wait_event_type = 'Lock'`;
  return held;
};

Deno.test("a tenant with too many searches is refused at once, and others are served", async () => {
  await using db = openDatabase();
  const noisy = await newTenant("noisy");
  const quiet = await newTenant("quiet");
  await ingest(noisy.headers, [{ msg: "one" }]);
  await queueIsEmpty(db);
  let flight: Flight;
  {
    await using _held = await holdSearches(db);
    flight = fly(everyKind(noisy, 28));
    await eventually(
      "all but four are refused",
      async () => await Promise.resolve(flight.answers.length === 24),
    );
    for (const answer of flight.answers) assertBusy(answer, "searches of this tenant are running");
    const sent = { success: true, ingested: 1, rejected: 0 };
    assertAnswer(await ingest(quiet.headers, [{ msg: "one" }]), 200, sent);
    assert.equal((await rpc(quiet.token, "list_alert_rules")).status, 200);
    assert.equal(flight.answers.length, 24);
  }
  await flight.all;
  assert.deepEqual(flight.answers.slice(24).filter(({ status }) => status >= 429), []);
  assert.equal((await search(noisy)).status, 200);
});

Deno.test("a key and a user share the tenant's scan slot", async () => {
  await using db = openDatabase();
  const [tenant, other] = [await newTenant("doors"), await newTenant("other")];
  for (const one of [tenant, other]) await putOnPlan(db, one, { concurrent_searches: 1 });
  const keys = await Promise.all(
    [tenant, other].map((one) => createKey(one, { p_scopes: ["read"] })),
  );
  const byKey = ({ key_value }: CreatedApiKey) => searchBy(key_value);
  const doors = [() => search(tenant), () => byKey(keys[0])];
  const flights: Flight[] = [];
  for (const [holder, refused] of [doors, doors.toReversed()]) {
    {
      await using _held = await holdSearches(db);
      flights.push(fly([holder()]));
      await eventually("the first holds the slot", async () => (await slotsHeld(db)) === 1);
      assertBusy(await refused(), "searches of this tenant are running");
      // A key of another tenant uses the other tenant's slot.
      flights.push(fly([byKey(keys[1])]));
      await eventually("another tenant has one, too", async () => (await slotsHeld(db)) === 2);
    }
    await Promise.all(flights.map(({ all }) => all));
    assert.equal((await refused()).status, 200);
  }
  const answers = flights.flatMap(({ answers }) => answers);
  assert.deepEqual(answers.map(({ status }) => status), [200, 200, 200, 200]);
});

Deno.test("a key and a portal session end at once, also during a search", async () => {
  await using db = openDatabase();
  const tenant = await newTenant("ends");
  const key = await createKey(tenant, { p_scopes: ["read"] });
  const session = await clientOf(tenant.token).call("create_log_portal_session", {});
  const secrets = [key.key_value, String(session.token)];
  let flight: Flight;
  {
    await using _held = await holdSearches(db);
    flight = fly(secrets.map(searchBy));
    await eventually("both search", async () => (await slotsHeld(db)) === 2);
    const ends = await Promise.all([
      rpc(tenant.token, "revoke_api_key", { p_key_id: key.key_id }),
      rpc(tenant.token, "revoke_log_portal_session", { p_session_id: session.session_id }),
    ]);
    for (const end of ends) assertAnswer(end, 200, { success: true });
    assert.equal(flight.answers.length, 0);
  }
  await flight.all;
  for (const secret of secrets) assert.equal((await searchBy(secret)).status, 401);
});

Deno.test("a tenant's first search has the parallel workers of its plan, searches at the same time have none", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  await putOnPlan(db, tenant, { concurrent_searches: 2, concurrent_scans: 2 });
  const workers = async (sql: Pick<Database, "unsafe">) => {
    await sql.unsafe(
      "select logloom_private.take_search_slot(logloom_private.scope_of_view($1, null))",
      [tenant.id],
    );
    const [row] = await sql.unsafe("show max_parallel_workers_per_gather");
    return row.max_parallel_workers_per_gather;
  };
  const seen = await db.begin(async (first) => [await workers(first), await db.begin(workers)]);
  assert.deepEqual(seen, ["1", "0"]);
  assert.equal(await db.begin(workers), "1");
  await putOnPlan(db, tenant, { concurrent_scans: 1 });
  assert.equal(await db.begin(workers), "0");
});

Deno.test("of a tenant's slow searches one continues, the others wait for their turn", async () => {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { search_free_time: "0" });
  const [noisy, quiet] = [await newTenant("noisy"), await newTenant("quiet")];
  await putOnPlan(db, noisy, { concurrent_scans: 2 });
  for (const { headers } of [noisy, quiet]) await ingest(headers, numbers);
  await queueIsEmpty(db);
  let flight: Flight;
  await db.begin(async (tx) => {
    // Takes all scan slots, like searches.
    await tx`
      select pg_advisory_xact_lock(
        logloom_private.search_slot_key('scans of ' || ${noisy.id}, n::integer)
      )
      from generate_series(0, 1) n`;
    flight = fly([count(noisy), count(noisy), count(noisy)]);
    await eventually("they wait", async () => (await waiting(db)) === 3);
    assert.deepEqual(counted(await count(quiet)), [200, 5000]);
    assert.equal(flight.answers.length, 0);
  });
  await flight!.all;
  assert.deepEqual(flight!.answers.map(counted), Array(3).fill([200, 5000]));
});

Deno.test("ten slow requests of a view's key leave half of the slots, and the owner is answered", async () => {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { search_free_time: "0", api_pool_size: 10 });
  const tenant = await newTenant("viewed");
  // More than all tenants may run together, which is half of the pool.
  await putOnPlan(db, tenant, { concurrent_searches: 8 });
  await ingest(tenant.headers, numbers);
  await queueIsEmpty(db);
  const client = clientOf(tenant.token);
  const view = await client.call("create_log_view", { p_name: "all", p_hidden_fields: ["host"] });
  const key = await createKey(tenant, { p_scopes: ["read"], p_view_id: view.view_id });
  const session = await client.call("create_log_portal_session", {});
  let flight: Flight;
  await db.begin(async (tx) => {
    // Takes a slot, like a slow search in a view.
    await tx`
      select pg_advisory_xact_lock(
        logloom_private.search_slot_key('scans of views of ' || ${tenant.id}, 0)
      )`;
    flight = fly(Array.from({ length: 10 }, () => readBy(key.key_value, ...countAll)));
    await eventually(
      "two wait, the others are refused",
      async () => (await waiting(db)) === 2 && flight.answers.length === 8,
    );
    const refusals = [...flight.answers, await readBy(String(session.token), ...countAll)];
    for (const answer of refusals) {
      assertBusy(answer, "searches in the views and portals of this tenant are running");
    }
    const own = await Promise.all([count(tenant), count(tenant)]);
    assert.deepEqual(own.map(counted), [[200, 5000], [200, 5000]]);
    assert.equal(flight.answers.length, 8);
  });
  await flight!.all;
  assert.deepEqual(flight!.answers.slice(8).map(counted), [[200, 5000], [200, 5000]]);
});

Deno.test("a killed search frees its slot", async () => {
  await using db = openDatabase();
  const tenant = await newTenant();
  await putOnPlan(db, tenant, { concurrent_searches: 1 });
  const flights: Flight[] = [];
  {
    await using _held = await holdSearches(db);
    flights.push(fly([search(tenant)]));
    await eventually("it holds its slot", async () => (await slotsHeld(db)) === 1);
    assert.equal((await search(tenant)).status, 429);
    await db`
      select pg_terminate_backend(l.pid) from pg_locks l join pg_stat_activity a using (pid)
      where l.locktype = 'advisory' and l.granted and a.usename = 'authenticator'
        and a.wait_event_type = 'Lock'`;
    await flights[0].all;
    flights.push(fly([search(tenant)]));
    await eventually("the next one holds it", async () => (await slotsHeld(db)) === 1);
    assert.equal(flights[1].answers.length, 0);
  }
  await flights[1].all;
  assert.equal(flights[1].answers[0].status, 200);
});

Deno.test("all tenants' searches leave connections free, and the last slots are for tenants without a search", async () => {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { api_pool_size: 16 });
  const [noisy, second, third, fourth] = await Promise.all(
    ["noisy", "second", "third", "fourth"].map((name) => newTenant(name)),
  );
  for (const tenant of [noisy, second]) await putOnPlan(db, tenant, { concurrent_searches: 100 });
  const flights: Flight[] = [];
  const isRefused = (answer: Answer) => assertBusy(answer, "searches are running");
  {
    await using _held = await holdSearches(db);
    flights.push(fly(Array.from({ length: 12 }, () => search(noisy))));
    await eventually(
      "six of eight are taken",
      async () => await Promise.resolve(flights[0].answers.length === 6),
    );
    flights[0].answers.forEach(isRefused);
    flights.push(fly([search(second)]));
    await eventually("a first search finds one", async () => (await slotsHeld(db)) === 7);
    isRefused(await search(second));
    flights.push(fly([search(third)]));
    await eventually("so does a third tenant's", async () => (await slotsHeld(db)) === 8);
    isRefused(await search(fourth));
    assert.equal((await ingest(fourth.headers, [{ msg: "one" }])).status, 200);
  }
  await Promise.all(flights.map(({ all }) => all));
  assert.equal((await search(fourth)).status, 200);
});

Deno.test("members and each customer can validate two queries at a time, and forty at once do no harm", async () => {
  await using db = openDatabase(undefined, 1);
  const noisy = await newTenant("noisy");
  const quiet = await newTenant("quiet");
  const query = `msg:~"(?i)[\u0080-\u{1EFFF}]" a b`;
  const validate = ({ token }: Tenant) => rpc(token, "validate_query", { p_query_dsl: query });
  const long = `level:error ${"timeout ".repeat(40)}`;
  const validateAs = async (p_customer: string) => {
    const session = await rpc<{ token: string }>(noisy.token, "create_log_portal_session", {
      p_customer,
      p_query_dsl: long,
    });
    return await readBy(session.body.token, "validate_query", query);
  };
  const held = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const transaction = db.begin(async (tx) => {
    await tx`
      select pg_advisory_xact_lock(
        logloom_private.search_slot_key(
          'validations of ' || jsonb_build_array(${noisy.id}::text, c, null)::text, n
        )
      ) from generate_series(1, 2) n, unnest(array[null, '42']) c`;
    held.resolve();
    await go.promise;
  });
  await held.promise;
  const answers = await Promise.all(Array.from({ length: 40 }, () => validate(noisy)));
  for (const answer of answers) assertBusy(answer, "queries of this tenant are being validated");
  assert.equal((await validate(quiet)).status, 200);
  assert.equal((await search(noisy)).status, 200);
  assert.equal((await validateAs("42")).status, 429);
  assert.equal((await validateAs("43")).status, 200);
  const save = ({ token }: Tenant, p_query_dsl: string) =>
    rpc(token, "create_saved_search", { p_name: p_query_dsl.slice(0, 20), p_query_dsl });
  assert.equal((await save(noisy, "level:error")).status, 200);
  assert.equal((await save(noisy, long)).status, 429);
  assert.equal((await save(quiet, long)).status, 200);
  go.resolve();
  await transaction;

  const flood = await Promise.all(Array.from({ length: 40 }, () => validate(noisy)));
  assert.deepEqual(flood.filter(({ status }) => status !== 200 && status !== 429), []);
  assert.ok(flood.some(({ status }) => status === 200));
  // One after another, all are answered.
  for (let n = 0; n < 5; n++) assert.equal((await validate(noisy)).status, 200);
});
