import assert from "node:assert/strict";
import fc from "fast-check";
import { success } from "../_shared/errors.ts";
import { createIngestHandler } from "./handler.ts";
import { bodies, event } from "./random_bodies.ts";
import { markNumber } from "../_shared/numbers.ts";
import { apiKey, parametersOf } from "./testing.ts";

/** The secret that marks numbers. */
const secret = markNumber("").split(":")[1];

/** Sends a body; what goes to the database as text and, since that is refused, as JSON. */
async function sendBothWays(path: string, type: string, body: string) {
  let [text, json] = ["", ""];
  const handler = createIngestHandler({
    authenticate: () => Promise.resolve(success({ kind: "api_key", keyDigest: "digest" })),
    callDatabase: (name, _parameters, sent) => {
      if (name === "ingest_text") {
        text = sent;
        const failure = { status: 404, error: "", isMissing: true } as const;
        return Promise.resolve({ ok: false, failure });
      }
      json = sent;
      return Promise.resolve(success('{"success":true,"ingested":1,"rejected":0}'));
    },
    wakeWriter: () => {},
  });
  const headers = { "X-API-Key": apiKey, "Content-Type": type };
  const url = `http://localhost/ingest${path}`;
  const answer = await handler(new Request(url, { method: "POST", headers, body }));
  return { text, json, status: answer.status, answer: await answer.text() };
}

/** As the database gets it: a body is sent as UTF-8. */
const received = (text: string) => new TextDecoder().decode(new TextEncoder().encode(text));

Deno.test("a body says the same as text and as JSON at each path, and shows no secret", async () => {
  let asText = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...bodies),
      fc.array(event, { minLength: 1, maxLength: 4 }),
      async ([path, type, bodyOf], events) => {
        const { text, json, status, answer } = await sendBothWays(path, type, bodyOf(events));
        assert.ok(status < 500, answer);
        assert.ok(![text, json, answer].some((said) => said.includes(secret)));
        if (json === "") return;
        if (text !== json) asText++;
        assert.deepEqual(parametersOf(received(text)), JSON.parse(received(json)));
      },
    ),
    { numRuns: 3000 },
  );
  assert.ok(asText > 1500, String(asText));
});
