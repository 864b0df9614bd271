import assert from "node:assert/strict";
import { apiKey, startDatabase, startIngest } from "./testing.ts";

/** Asserts that Postgres can store a request: no NUL, no half surrogate pair, no deep nesting, parallel arrays. */
function assertStorable(sent: string): void {
  assert.ok(sent.isWellFormed());
  const escapes = sent.match(/\\(?:u[0-9a-f]{4}|.)/g) ?? [];
  assert.ok(!escapes.some((escape) => /^\\u(?:0000|d[89a-f])/.test(escape)));
  let depth = 0;
  let deepest = 0;
  for (const [token] of sent.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gs)) {
    if (token === "[" || token === "{") deepest = Math.max(deepest, ++depth);
    if (token === "]" || token === "}") depth--;
  }
  assert.equal(depth, 0);
  assert.ok(deepest <= 66, String(deepest));
  const parameters: Record<string, unknown> = JSON.parse(sent);
  const { p_ts: ts, p_positions: positions } = parameters;
  if (ts === undefined) return;
  assert.ok(Array.isArray(ts));
  assert.ok(positions === undefined || Array.isArray(positions) && positions.length === ts.length);
  for (const [name, column] of Object.entries(parameters)) {
    if (!Array.isArray(column) || name === "p_errors") continue;
    assert.equal(column.length, ts.length, name);
    for (const value of column) {
      if (value === null || name === "p_positions") continue;
      assert.equal(typeof value, name === "p_attrs" ? "object" : "string");
    }
  }
}

export interface Fuzzed extends AsyncDisposable {
  /** Sends a body to a path below `ingest` and returns the status. */
  send(path: string, body: BodyInit, headers?: Record<string, string>): Promise<number>;
}

/** Starts the function with a database that checks whether it could store each request. */
export function startFuzzed(): Fuzzed {
  const peer = startDatabase(({ body }) => {
    try {
      assertStorable(body);
    } catch (error) {
      return new Response(String(error), { status: 500 });
    }
    return new Response('{"success":true,"ingested":1,"rejected":0}');
  });
  const ingest = startIngest(peer.url);
  return {
    async send(path, body, headers = {}) {
      const response = await fetch(`${ingest.url}${path}`, {
        method: "POST",
        headers: { "X-API-Key": apiKey, ...headers },
        body,
      });
      const answer = await response.text();
      if (path === "" && !response.ok) assert.equal(typeof JSON.parse(answer).error, "string");
      return response.status;
    },
    async [Symbol.asyncDispose]() {
      await ingest[Symbol.asyncDispose]();
      await peer[Symbol.asyncDispose]();
    },
  };
}
