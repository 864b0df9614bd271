import assert from "node:assert/strict";
import { newTenant } from "../support/client.ts";
import { callAsOwner, openDatabase } from "../support/database.ts";
import { patience } from "../support/eventually.ts";
import { complete, outcomeOf, Sender } from "../support/sender.ts";

Deno.test("writers that run at once, by hand and by schedule, lose and double nothing", async () => {
  const tenant = await newTenant();
  const sender = new Sender(tenant, { eventsPerRequest: 50 });
  await using db = openDatabase(undefined, 4);
  sender.start();
  const end = performance.now() + 3_000;
  const isOver = () => performance.now() > end && sender.acknowledged >= 500;
  await Promise.all(Array.from({ length: 4 }, async () => {
    while (!isOver()) {
      assert.ok(performance.now() < end + patience, "nothing is acknowledged");
      await callAsOwner(db, "call logloom_private.run_job('write_logs')");
    }
  }));
  await sender.stop();
  assert.deepEqual(await outcomeOf(db, tenant), complete(sender));
});
