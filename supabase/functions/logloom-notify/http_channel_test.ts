import assert from "node:assert/strict";
import type { OutgoingOptions } from "../_shared/outgoing_request.ts";
import { postJson } from "./http_channel.ts";

const options: OutgoingOptions = {
  allowLocal: true,
  timeoutMs: 60_000,
  resolve: () => Promise.resolve([]),
  connect: (hostname, port) => Deno.connect({ hostname, port }),
};

/** Delivers to a receiver with this answer. */
async function answered(response: () => Response, path = "/secret-path") {
  let body: unknown;
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async (request) => {
      body = await request.json();
      return response();
    },
  );
  try {
    const outcome = await postJson(
      `http://127.0.0.1:${server.addr.port}${path}`,
      { a: "ü" },
      options,
    );
    assert.deepEqual(body, { a: "ü" });
    assert.ok(!JSON.stringify(outcome).includes("secret"));
    return outcome;
  } finally {
    await server.shutdown();
  }
}

Deno.test("a channel's answer says whether the message arrived, is tried again, or is given up", async () => {
  const delivered = (status: number) => ({ outcome: "delivered", status });
  const later = (status: number, retryAfter?: number) => ({
    outcome: "retry",
    status,
    error: `HTTP ${status}`,
    retryAfter,
  });
  const never = (status: number) => ({
    outcome: "failed",
    status,
    error: `HTTP ${status}: the channel refused the message`,
  });
  const reply = (status: number, headers: Record<string, string> = {}, body = "") => () =>
    new Response(status === 204 ? null : body, { status, headers });

  // Slack: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks
  assert.deepEqual(await answered(reply(200, {}, "ok")), delivered(200));
  assert.deepEqual(await answered(reply(400, {}, "invalid_payload")), never(400));
  assert.deepEqual(await answered(reply(403, {}, "action_prohibited")), never(403));
  assert.deepEqual(await answered(reply(404, {}, "no_service")), never(404));
  assert.deepEqual(await answered(reply(410, {}, "channel_is_archived")), never(410));
  assert.deepEqual(await answered(reply(429, { "Retry-After": "30" })), later(429, 30));
  assert.deepEqual(await answered(reply(500, {}, "rollup_error")), later(500));
  // Discord: https://discord.com/developers/docs/topics/rate-limits
  assert.deepEqual(await answered(reply(204)), delivered(204));
  assert.deepEqual(
    await answered(reply(429, { "Retry-After": "65", "X-RateLimit-Reset-After": "64.57" }, "{}")),
    later(429, 65),
  );
  assert.deepEqual(await answered(reply(429, { "Retry-After": "0.3" })), later(429, 1));
  // Teams' workflows and PagerDuty accept.
  assert.deepEqual(await answered(reply(202)), delivered(202));
  assert.deepEqual(await answered(reply(302, { Location: "/elsewhere" })), never(302));
});
