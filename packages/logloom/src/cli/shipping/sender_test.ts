import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import {
  closedUrl,
  type PeerRequest,
  startPeer,
} from "../../../../../supabase/functions/_shared/testing.ts";
import { Failure } from "../failure.ts";
import type { Batch } from "./batches.ts";
import { createSender, type Send, type SenderOptions } from "./sender.ts";

const batch: Batch = {
  events: ['{"msg":"a"}', '{"msg":"b"}', "7"],
  origins: [1, 2, 3].map((line) => ({ source: "app.log", line })),
  bytes: 30,
};
const accepted = { success: true, ingested: 3, rejected: 0 };

interface Sender {
  readonly send: Send;
  readonly waits: readonly number[];
}

/** A sender with a fake clock, which advances only while the sender waits. */
function senderTo(url: string, options: Partial<SenderOptions> = {}): Sender {
  const waits: number[] = [];
  let now = Date.parse("2026-11-21T12:00:00Z");
  const send = createSender({
    url,
    apiKey: "ll_key",
    gzip: false,
    giveUpAfterMs: 60_000,
    wait: (ms) => {
      waits.push(ms);
      now += ms;
      return Promise.resolve();
    },
    now: () => now,
    onRetry: () => {},
    ...options,
  });
  return { send, waits };
}

/** Gives these answers in order, then the last one for all further requests. */
function inTurn(...answers: (() => Response)[]): () => Response {
  let turn = 0;
  return () => answers[Math.min(turn++, answers.length - 1)]();
}

const idempotencyKey = ({ headers }: PeerRequest) => headers.get("Idempotency-Key");

Deno.test("a batch is one request with key, idempotency key and the shipper's name", async () => {
  await using peer = startPeer(() => Response.json(accepted));
  const { send, waits } = senderTo(`${peer.url}/`);
  assert.deepEqual(await send(batch), { accepted: 3, rejected: 0, errors: [] });
  await send(batch);
  const [first, second] = peer.requests;
  assert.equal(first.method, "POST");
  assert.equal(first.path, "/functions/v1/ingest");
  assert.equal(first.body, '[{"msg":"a"},{"msg":"b"},7]');
  assert.equal(first.headers.get("X-API-Key"), "ll_key");
  assert.equal(first.headers.get("User-Agent"), "logloom-ship");
  assert.equal(first.headers.get("Content-Type"), "application/json");
  assert.equal(first.headers.get("Content-Encoding"), null);
  assert.match(idempotencyKey(first) ?? "", /^[0-9a-f-]{36}$/);
  assert.notEqual(idempotencyKey(first), idempotencyKey(second));
  assert.deepEqual(waits, []);
});

Deno.test("a compressed batch says so", async () => {
  const bodies: Uint8Array[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (req) => {
    assert.equal(req.headers.get("Content-Encoding"), "gzip");
    bodies.push(await req.bytes());
    return Response.json(accepted);
  });
  await senderTo(`http://127.0.0.1:${server.addr.port}`, { gzip: true }).send(batch);
  assert.equal(gunzipSync(bodies[0]).toString(), '[{"msg":"a"},{"msg":"b"},7]');
  await server.shutdown();
});

Deno.test("rejected events are reported", async () => {
  const errors = [{
    index: 2,
    code: "not_an_object",
    message: "A log event must be a JSON object",
  }];
  await using peer = startPeer(() =>
    Response.json({ success: true, ingested: 2, rejected: 1, errors })
  );
  assert.deepEqual(await senderTo(peer.url).send(batch), { accepted: 2, rejected: 1, errors });
});

Deno.test("after a temporary failure a batch is retried with the same key and growing waits", async () => {
  await using peer = startPeer(inTurn(
    () => new Response("<html>", { status: 502 }),
    () => Response.json({ error: "x" }, { status: 503 }),
    () => Response.json({ error: "x" }, { status: 500 }),
    () => new Response("{}"),
    () => new Response('{"success":true,"inge'),
    () => Response.json(accepted),
  ));
  const { send, waits } = senderTo(peer.url);
  assert.deepEqual(await send(batch), { accepted: 3, rejected: 0, errors: [] });
  assert.equal(new Set(peer.requests.map(idempotencyKey)).size, 1);
  assert.equal(waits.length, 5);
  waits.forEach((wait, tries) => {
    const longest = 500 * 2 ** tries;
    assert.ok(wait >= longest / 2 && wait <= longest, `${tries}: ${wait}`);
  });
});

Deno.test("Retry-After is obeyed, as seconds and as a date", async () => {
  const busy = (retryAfter: string) => () =>
    Response.json({ error: "busy" }, { status: 429, headers: { "Retry-After": retryAfter } });
  await using peer = startPeer(inTurn(
    busy("7"),
    busy("Sat, 21 Nov 2026 12:00:19 GMT"),
    busy("Sat, 21 Nov 2026 11:00:00 GMT"),
    () => Response.json(accepted),
  ));
  const { send, waits } = senderTo(peer.url);
  await send(batch);
  assert.deepEqual(waits.slice(0, 2), [7000, 12_000]);
  assert.ok(waits[2] <= 2000);
});

Deno.test("a batch is given up if the next try would come after its time", async () => {
  await using peer = startPeer(() =>
    Response.json({ error: "Monthly limit reached" }, {
      status: 429,
      headers: { "Retry-After": "86400" },
    })
  );
  const { send, waits } = senderTo(peer.url);
  await assert.rejects(
    send(batch),
    new Failure("429 Monthly limit reached; gave up after one try."),
  );
  assert.deepEqual(waits, []);

  const away = senderTo(closedUrl());
  await assert.rejects(away.send(batch), /cannot be reached; gave up after \d+ tries\.$/);
  const waited = away.waits.reduce((sum, wait) => sum + wait, 0);
  assert.ok(waited > 20_000 && waited <= 60_000, String(waited));
});

Deno.test("a batch that is refused for good is not sent again", async () => {
  for (const status of [400, 401, 404, 405, 409]) {
    await using peer = startPeer(() => Response.json({ error: "no" }, { status }));
    await assert.rejects(senderTo(peer.url).send(batch), new Failure(`${status} no`));
    assert.equal(peer.requests.length, 1);
  }
});

Deno.test("a redirect is not followed and ends the run, so the key goes to no other address", async () => {
  await using elsewhere = startPeer(() => Response.json(accepted));
  await using peer = startPeer(() => Response.redirect(`${elsewhere.url}/x`, 308));
  await assert.rejects(
    senderTo(peer.url).send(batch),
    new Failure(`the address answers with a redirect to ${elsewhere.url}/x: name that one`),
  );
  assert.deepEqual([peer.requests.length, elsewhere.requests.length], [1, 0]);
});

Deno.test("a batch that is refused as too large is sent in halves", async () => {
  await using peer = startPeer(({ body }) => {
    const events: unknown[] = JSON.parse(body);
    if (events.length > 1) return Response.json({ error: "too large" }, { status: 413 });
    const rejected = typeof events[0] === "number";
    return Response.json({
      success: !rejected,
      ingested: rejected ? 0 : 1,
      rejected: rejected ? 1 : 0,
      ...rejected && { errors: [{ index: 0, code: "not_an_object", message: "m" }] },
    });
  });
  assert.deepEqual(await senderTo(peer.url).send(batch), {
    accepted: 2,
    rejected: 1,
    errors: [{ index: 2, code: "not_an_object", message: "m" }],
  });
  await using strict = startPeer(() => Response.json({ error: "too large" }, { status: 413 }));
  await assert.rejects(senderTo(strict.url).send(batch), new Failure("413 too large"));
});
