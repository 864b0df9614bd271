import assert from "node:assert/strict";
import { type Answer, ingest, newTenant, rpc, type Tenant } from "../support/client.ts";
import { changeSettings, openDatabase, queueIsEmpty } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { putOnPlan } from "../support/plans.ts";
import { nodeOf, onNode } from "./node_database.ts";

Deno.test("on its node, too, of a tenant's slow searches one reads on and the others wait", async () => {
  await using db = openDatabase();
  await using _settings = await changeSettings(db, { search_free_time: "0" });
  const noisy = await newTenant("noisy");
  const port = await nodeOf(db, noisy);
  let quiet: Tenant;
  do quiet = await newTenant("quiet"); while (await nodeOf(db, quiet) !== port);
  await putOnPlan(db, noisy, { concurrent_scans: 2 });
  const events = Array.from({ length: 5000 }, (_, n) => ({ msg: `number ${n}` }));
  for (const { headers } of [noisy, quiet]) await ingest(headers, events);
  await queueIsEmpty(db);

  const count = ({ token }: Tenant) => rpc(token, "log_stats", { p_query_dsl: "number | count()" });
  const counted = ({ status, body }: Answer) => {
    const [group] = body as unknown as { value: number }[];
    return [status, group.value];
  };
  await using node = onNode(port);
  await using watcher = onNode(port);
  const answers: Answer[] = [];
  let all: Promise<unknown> = Promise.resolve();
  await node.begin(async (tx) => {
    // As a search of each scan slot would.
    await tx`
      select pg_advisory_xact_lock(
        logloom_private.search_slot_key('scans of ' || ${noisy.id}, n::integer)
      )
      from generate_series(0, 1) n`;
    all = Promise.all([1, 2, 3].map(async () => answers.push(await count(noisy))));
    await eventually("they wait", async () => {
      const [{ waiting }] = await watcher`
        select count(*)::integer as waiting from pg_stat_activity a
        where a.wait_event = 'PgSleep' and a.query like '%take_turn%'`;
      return waiting === 3;
    });
    assert.deepEqual(counted(await count(quiet)), [200, 5000]);
    assert.equal(answers.length, 0);
  });
  await all;
  assert.deepEqual(answers.map(counted), [[200, 5000], [200, 5000], [200, 5000]]);
});
