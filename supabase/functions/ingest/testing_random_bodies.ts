import fc from "fast-check";

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
/** An event, in which names may come twice. */
export const event = fc.array(fc.tuple(fc.constantFrom(...names), value), { maxLength: 8 }).map(
  objectOf,
);

function objectOf(members: [string, string][]): string {
  return `{${members.map(([name, json]) => `"${name}":${json}`)}}`;
}

const long = numbers[0];
/** Bodies of protocols: path, content type, and the body made of events in JSON. */
export const bodies: readonly (readonly [string, string, (events: string[]) => string])[] = [
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
