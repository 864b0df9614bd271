import assert from "node:assert/strict";
import { receive, type Receiving } from "../testing_protocols.ts";
import { pushed } from "./testing_loki_requests.ts";

const message = "ts must not be before 2026-11-21T00:00:00Z";
const why = `None of the 2 events was stored. The first: ${message}`;
const old = 1_000_000_000_000;
const oldIso = new Date(old).toISOString();

/** A database that accepts none or one of two events. */
function refusing(ingested: 0 | 1): Receiving["database"] {
  return () =>
    Response.json({
      success: ingested > 0,
      ingested,
      rejected: 2 - ingested,
      errors: [{ index: ingested, code: "ts_out_of_range", message }],
    });
}

const heroku = `<134>1 ${oldIso} host app web.1 - state`;
const loki = JSON.stringify({
  streams: [{ stream: {}, values: [[`${old}000000`, "a"], [`${old}000000`, "b"]] }],
});

const errorOf = (body: object) => [400, JSON.stringify(body)] as const;
const plain = errorOf({ error: why });
const hec = [
  [200, '{"text":"Success","code":0,"invalid-event-number":1}'],
  errorOf({ text: why, code: 6, "invalid-event-number": 0 }),
] as const;
const datadog = errorOf({ errors: [{ status: "400", title: "Bad Request", detail: why }] });

/** A request of two events, and its answers if one is stored and if none is. */
const answers: readonly (readonly [
  path: string,
  body: BodyInit,
  part: readonly [number, string],
  none: readonly [number, string],
])[] = [
  ["/loki/api/v1/push", loki, [204, ""], [400, why]],
  ["/loki/api/v1/push", pushed("{}", [["a"], ["b"]]), [204, ""], [400, why]],
  ["/services/collector", '{"event":"a","time":1}{"event":"b","time":1}', ...hec],
  ["/services/collector/raw", "a\nb", ...hec],
  [
    "/api/v2/logs",
    `[{"message":"a","timestamp":${old}},{"message":"b","timestamp":${old}}]`,
    [202, "{}"],
    datadog,
  ],
  ["/gelf", '{"short_message":"a"}{"short_message":"b"}', [202, ""], plain],
  ["/drain/heroku", `${heroku.length} ${heroku}${heroku.length} ${heroku}`, [204, ""], plain],
  ["/betterstack", '[{"dt":1},{"dt":1}]', [202, ""], plain],
  ["/logs/ingest", '{"lines":[{"line":"a"},{"line":"b"}]}', [200, '{"status":"ok"}'], plain],
  [
    "/logflare/logs",
    '{"batch":[{"message":"a"},{"message":"b"}]}',
    [200, '{"message":"Logged!"}'],
    errorOf({ error: why, message: why }),
  ],
];

Deno.test("no protocol reports success if no event was stored", async () => {
  for (const [path, body, part, none] of answers) {
    const headers: Record<string, string> = typeof body === "string" && !path.includes("raw")
      ? { "Content-Type": "application/json" }
      : {};
    const some = await receive(path, { headers, body, database: refusing(1) });
    assert.deepEqual([some.status, some.text], part, path);
    const nothing = await receive(path, { headers, body, database: refusing(0) });
    assert.deepEqual([nothing.status, nothing.text], none, path);
  }
});

Deno.test("protocols with a count report 0 stored events with 200", async () => {
  const database = refusing(0);
  const headers = { "Content-Type": "application/json" };
  const body = '[{"msg":"a"},{"msg":"b"}]';
  const axiom = await receive("/v1/ingest/shop", { headers, body, database });
  const { ingested, failed } = JSON.parse(axiom.text);
  assert.deepEqual([axiom.status, ingested, failed], [200, 0, 2]);
  const records = [{ body: { stringValue: "a" } }, { body: { stringValue: "b" } }];
  const otlp = await receive("/v1/logs", {
    headers,
    body: JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords: records }] }] }),
    database,
  });
  assert.deepEqual([otlp.status, JSON.parse(otlp.text)], [200, {
    partialSuccess: { rejectedLogRecords: "2", errorMessage: `record 0: ${message}` },
  }]);
});

Deno.test("values that are not events count as not stored", async () => {
  for (const [path, body] of [["/api/v2/logs", "[1,2]"], ["/gelf", '["a"]']] as const) {
    const headers = { "Content-Type": "application/json" };
    const { status, text } = await receive(path, { headers, body });
    assert.equal(status, 400, path);
    assert.match(text, /None of the \d events was stored|The event was not stored/, path);
  }
});
