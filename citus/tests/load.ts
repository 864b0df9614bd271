import assert from "node:assert/strict";
import { newTenant, rpc, type Tenant } from "../../tests/support/client.ts";
import type { Database } from "../../tests/support/database.ts";
import { pause } from "../../tests/support/eventually.ts";
import { complete, outcomeOf, Sender } from "../../tests/support/sender.ts";

/** Starts tenants that send and search until end(). No request may fail. */
export async function startLoad(tenants = 4) {
  const senders: Sender[] = [];
  for (let n = 0; n < tenants; n++) {
    senders.push(new Sender(await newTenant(), { eventsPerRequest: 50, pauseBetween: 100 }));
  }
  for (const sender of senders) sender.start(1);
  let isOver = false;
  const searches: number[] = [];
  const search = async ({ token }: Tenant) => {
    while (!isOver) {
      const began = performance.now();
      const { status, body } = await rpc(token, "search_logs", { p_query_dsl: "level:info" });
      assert.equal(status, 200, JSON.stringify(body));
      searches.push(performance.now() - began);
      await pause(200);
    }
  };
  const searching = Promise.all(senders.map(({ tenant }) => search(tenant)));
  // end() reports a failure.
  searching.catch(() => {});
  const stop = async () => {
    isOver = true;
    for (const sender of senders) await sender.stop();
  };
  return {
    senders,
    /** Stops the load if the test fails. */
    [Symbol.asyncDispose]: stop,
    async end() {
      await stop();
      await searching;
      return `${senders.reduce((sum, { acknowledged }) => sum + acknowledged, 0)} events, ${
        senders.reduce((sum, { repeats }) => sum + repeats, 0)
      } repeats; ${searches.length} searches, the slowest ${Math.round(Math.max(...searches))} ms`;
    },
  };
}

export async function assertNothingLost(sql: Database, senders: Sender[]): Promise<void> {
  for (const sender of senders) {
    assert.ok(sender.acknowledged > 0);
    assert.deepEqual(await outcomeOf(sql, sender.tenant), complete(sender));
    assert.equal(await countedOf(sql, sender.tenant), sender.acknowledged, "the counts are right");
  }
}

export async function countedOf(sql: Database, { id }: Tenant): Promise<number> {
  const [{ counted }] = await sql`
    select coalesce(sum(c.events), 0)::integer as counted from logloom_private.log_counts c
    where c.tenant_id = ${id}`;
  return counted;
}
