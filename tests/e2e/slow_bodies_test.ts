import assert from "node:assert/strict";
import { trickle } from "../../supabase/functions/_shared/testing.ts";
import { bearer, newTenant } from "../support/client.ts";
import { stack } from "../support/stack.ts";

Deno.test({
  name: "a body that takes longer than 30 seconds is a 408, with a bad token too",
  // With a shorter time: supabase/functions/ingest/slow_bodies_test.ts.
  ignore: Deno.env.get("LOGLOOM_LONG") !== "1",
  fn: async () => {
    const tenant = await newTenant("slow");
    const senders = [
      ["/functions/v1/ingest", tenant.headers],
      ["/functions/v1/ingest", bearer("not.a.token")],
      ["/functions/v1/ingest/lines", { "x-api-key": "ll_nobodys" }],
    ] as const;
    const answers = await Promise.all(
      senders.map(([path, headers]) => trickle(`${stack.url}${path}`, headers, 1_000)),
    );
    for (const { status, body, took } of answers) {
      assert.deepEqual([status, JSON.parse(body)], [408, {
        error: "Request body took longer than 30 seconds",
      }]);
      assert.ok(took > 29_000 && took < 60_000, `${took} ms`);
    }
  },
});
