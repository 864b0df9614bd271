import assert from "node:assert/strict";
import fc from "fast-check";
import { success } from "../_shared/errors.ts";
import { createIngestHandler } from "./handler.ts";
import { bodies, event } from "./testing_random_bodies.ts";
import { markNumber } from "../_shared/numbers.ts";
import { apiKey, parametersOf } from "./testing.ts";

/** The secret prefix of marked numbers. */
const secret = markNumber("").split(":")[1];

/** Sends a body. Returns the request for the database, and the answer. */
async function send(path: string, type: string, body: string) {
  let text = "";
  const handler = createIngestHandler({
    authenticate: () => Promise.resolve(success({ kind: "api_key", keyDigest: "digest" })),
    callDatabase: (_name, sent) => {
      text = sent;
      const answer = { success: true, ingested: 1, rejected: 0 };
      const answers = [{ status: 200, headers: {}, body: JSON.stringify(answer) }];
      return Promise.resolve(success(JSON.stringify(answers)));
    },
    wakeWriter: () => {},
  });
  const headers = { "X-API-Key": apiKey, "Content-Type": type };
  const url = `http://localhost/ingest${path}`;
  const answer = await handler(new Request(url, { method: "POST", headers, body }));
  return { text, status: answer.status, answer: await answer.text() };
}

Deno.test("a random body at each path becomes parallel columns, and never shows the secret", async () => {
  let separated = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bodies),
      fc.array(event, { minLength: 1, maxLength: 4 }),
      async ([path, type, bodyOf], events) => {
        const { text, status, answer } = await send(path, type, bodyOf(events));
        assert.ok(status < 500, answer);
        assert.ok(![text, answer].some((said) => said.includes(secret)));
        if (text === "" || status === 400) return;
        if (text.includes("\x1e")) separated++;
        const { p_ts: ts, p_errors: _, ...members } = parametersOf(text);
        assert.ok(Array.isArray(ts));
        for (const column of Object.values(members).filter(Array.isArray)) {
          assert.equal(column.length, ts.length);
        }
      },
    ),
    { numRuns: 3000 },
  );
  assert.ok(separated > 1500, String(separated));
});
