import assert from "node:assert/strict";
import fc from "fast-check";
import { success } from "../_shared/errors.ts";
import { createIngestHandler } from "./handler.ts";
import { markNumber } from "../_shared/numbers.ts";
import { apiKey, parametersOf } from "./testing.ts";

/** The secret that marks numbers. */
const secret = markNumber("").split(":")[1];

const numbers =
  "12345678901234567890 -0 1e400 1E5 -1e-7 0.1000000000000000055511151231257827 1e300 7"
    .split(" ");
const names =
  ("msg level ts service env host user_id route req_id attrs message severity timestamp time hostname " +
    "__proto__ a.b event fields source index line lines logs events stream values body attributes key value " +
    "stringValue ddtags meta app status service.name trace_id tenant_id version _x short_message severityText")
    .split(" ").concat("");
const texts = [
  ...names,
  ..."info null \\u0000 \\ud800 \\u001f \\u001e\\u001c \\u001d 2026-11-21T12:00:00Z 1795264496"
    .split(" "),
  '{\\"a\\":12345678901234567890}',
].map((text) => `"${text}"`);
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.constantFrom(...numbers),
    fc.constantFrom(...texts),
    fc.constantFrom("true", "null", "[]", "{}"),
    fc.array(tie("value"), { maxLength: 3 }).map((items) => `[${items}]`),
    fc.array(fc.tuple(fc.constantFrom(...names), tie("value")), { maxLength: 5 }).map(objectOf),
  ),
}));
/** With names twice, too. */
const event = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 8 }).map(objectOf);

function objectOf(members: [string, string][]): string {
  return `{${members.map(([name, json]) => `"${name}":${json}`)}}`;
}

const long = numbers[0];
const bodies: readonly (readonly [string, string, (events: string[]) => string])[] = [
  ["", "application/json", (events) => `[${events}]`],
  ["", "application/x-ndjson", (events) => events.join("\n")],
  [
    "/services/collector",
    "",
    (events) => events.map((fields) => `{"event":"x","host":${long},"fields":${fields}}`).join(""),
  ],
  [
    "/es/_bulk",
    "",
    (events) =>
      events.map((one) => `{"index":{"_index":${long},"_id":${long}}}\n${one}\n`).join(""),
  ],
  ["/api/v2/logs", "", (events) => `[${events}]`],
  ["/v1/datasets/x/ingest", "", (events) => `[${events}]`],
  ["/logs", "", (events) => `{"batch":[${events}]}`],
  ["/gelf", "", (events) => events.join("\n")],
  ["/logs/ingest", "", (events) => `{"lines":[${events}]}`],
  [
    "/loki/api/v1/push",
    "application/json",
    (events) =>
      `{"streams":[{"stream":{"app":${long}},"values":[${
        events.map((one) => `["1795264496000000000",${JSON.stringify(one)},${one}]`)
      }]}]}`,
  ],
  [
    "/v1/logs",
    "application/json",
    (events) =>
      `{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":${long}}}]},` +
      `"scopeLogs":[{"scope":{"name":${long}},"logRecords":[${events},${
        events.map((one) =>
          `{"severityText":${long},"eventName":${long},"attributes":[{"key":${long},"value":${one}}]}`
        )
      }]}]}]}`,
  ],
];

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
