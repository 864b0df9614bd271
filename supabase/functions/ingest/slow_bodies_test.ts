import assert from "node:assert/strict";
import { trickle } from "../_shared/testing.ts";
import { apiKey, startDatabase, startIngest } from "./testing.ts";

Deno.test("a slow body gets 408 when its time is over, with any credentials", async () => {
  await using peer = startDatabase(() => Response.json({ authenticated: true }));
  await using ingest = startIngest(peer.url, () => {}, 500);
  const senders: Record<string, string>[] = [
    { "X-API-Key": apiKey },
    { "X-API-Key": "ll_nobodys" },
    { Authorization: "Bearer not.a.token" },
  ];
  for (const headers of senders) {
    const { status, body, took } = await trickle(ingest.url, headers, 50);
    assert.deepEqual([status, JSON.parse(body)], [408, {
      error: "Request body took longer than 0.5 seconds",
    }]);
    assert.ok(took > 450, `${took} ms`);
  }
  // The key may have been checked, but nothing was stored.
  assert.deepEqual(peer.requests.filter(({ body }) => body.includes("p_ts")), []);
});
