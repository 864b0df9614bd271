import assert from "node:assert/strict";
import { type Answer, ingest, newTenant, rpc, type Tenant } from "../../tests/support/client.ts";
import { changeSettings, openDatabase, recordsOf } from "../../tests/support/database.ts";
import { eventually } from "../../tests/support/eventually.ts";
import { putOnPlan } from "../../tests/support/plans.ts";
import { stack, system } from "../../tests/support/second_server.ts";
import { firstNode } from "../../local/processes/postgres.ts";
import { nodeOf, onNode } from "./node_database.ts";
import { noon, sealRecordsOf } from "./sealed_day.ts";

const records = 2000;

/** Lists questions that blocks answer by words, by a column and by numbers, with the answers. */
const questions: [query: string, value: number][] = [
  ["number | count()", records],
  ["NOT attrs.n:5000 | count()", records],
  ["| max(attrs.n)", records - 1],
];

for (const isSealed of [false, true]) {
  const what = isSealed ? "sealed records" : "rows";
  Deno.test(`on a node, too, a tenant's slow searches of ${what} wait for each other`, async () => {
    await takeTurns(isSealed);
  });
}

async function takeTurns(isSealed: boolean): Promise<void> {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { search_free_time: "0" });
  const noisy = await newTenant("noisy");
  const port = await nodeOf(db, noisy);
  let quiet: Tenant;
  do quiet = await newTenant("quiet"); while (await nodeOf(db, quiet) !== port);
  await putOnPlan(db, noisy, { concurrent_scans: 2 });
  const began = isSealed ? noon : new Date(Date.now() - 60_000);
  const events = Array.from(
    { length: records },
    (_, n) => ({ ts: new Date(began.getTime() + n).toISOString(), msg: `number ${n}`, n }),
  );
  for (const { id, headers } of [noisy, quiet]) {
    for (let n = 0; n < events.length; n += 1000) await ingest(headers, events.slice(n, n + 1000));
    await recordsOf(db, id, records);
    if (isSealed) await sealRecordsOf(db, id, records);
  }
  const range = {
    p_ts_from: began.toISOString(),
    p_ts_to: new Date(began.getTime() + records).toISOString(),
  };
  const ask = async ({ token }: Tenant, query: string) =>
    valueOf(await rpc(token, "log_stats", { p_query_dsl: query, ...range }));

  // Searches wait on the server that reads: on the node or on the coordinator.
  await using servers = serversOf(port);
  const answers: number[] = [];
  let all: Promise<unknown> = Promise.resolve();
  {
    await using _held = await servers.holdScans(noisy);
    all = Promise.all(questions.map(async ([query], n) => answers[n] = await ask(noisy, query)));
    // "await all" reports a failure.
    all.catch(() => {});
    await eventually("they wait", async () => await servers.waiting(noisy) === questions.length);
    for (const [query, value] of questions) assert.equal(await ask(quiet, query), value);
    assert.deepEqual(answers, []);
  }
  await all;
  assert.deepEqual(answers, questions.map(([, value]) => value));
}

function valueOf({ status, body }: Answer): number {
  assert.equal(status, 200, JSON.stringify(body));
  const [group] = body as unknown as { value: number }[];
  return group.value;
}

/** Returns the coordinator and the node at a port. */
function serversOf(port: number) {
  const coordinator = firstNode(system, stack).port;
  const ports = [coordinator, port];
  const watchers = ports.map((port) => onNode(port));
  return {
    /** Takes the tenant's two scan slots, like two searches. */
    async holdScans({ id }: Tenant): Promise<AsyncDisposable> {
      const holders = ports.map((port) => onNode(port));
      for (const holder of holders) {
        await holder`
          select pg_advisory_lock(logloom_private.search_slot_key('scans of ' || ${id}, n::integer))
          from generate_series(0, 1) n`;
      }
      return {
        async [Symbol.asyncDispose]() {
          for (const holder of holders) await holder.end();
        },
      };
    },
    async waiting({ id }: Tenant): Promise<number> {
      let sum = 0;
      for (const watcher of watchers) {
        const [{ waiting }] = await watcher`
          select count(*)::integer as waiting from pg_stat_activity a
          where a.wait_event = 'PgSleep' and a.pid <> pg_backend_pid()
            and (strpos(a.query, ${id}) > 0 or a.usename = 'authenticator')`;
        sum += waiting;
      }
      return sum;
    },
    async [Symbol.asyncDispose]() {
      for (const watcher of watchers) await watcher.end();
    },
  };
}
