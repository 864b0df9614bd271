import assert from "node:assert/strict";
import { receive } from "../testing_protocols.ts";

const stored: readonly (readonly [string, readonly string[]])[] = [
  ['[{"event":"a"},{"event":"b"}]', ["a", "b"]],
  ['[\n  {"event": "a"},\n  {"event": "b"}\n]\n', ["a", "b"]],
  ['{"event":"a"},{"event":"b"}', ["a", "b"]],
  ['{"event":"a"} , \r\n {"event":"b"},', ["a", "b"]],
  ['{"event":"a"}[{"event":"b"}]', ["a", "b"]],
  ['[{"event":"a"}]\n[{"event":"b"}]', ["a", "b"]],
  ['[{"event":"],["},{"event":"{"}]', ["],[", "{"]],
];

Deno.test("HEC takes arrays, and commas between objects", async () => {
  for (const [body, texts] of stored) {
    const { status, text, events } = await receive("/services/collector", { body });
    assert.deepEqual([status, text], [200, '{"text":"Success","code":0}'], body);
    assert.deepEqual(events.map(({ msg }) => msg), texts, body);
  }
});

const invalid = { text: "Invalid data format", code: 6 };
const missing = { text: "Event field is required", code: 12 };
const blank = { text: "Event field cannot be blank", code: 13 };

const faulty: readonly (readonly [string, object])[] = [
  ['{"foo":1}\n{"foo":2}', { ...missing, "invalid-event-number": 0 }],
  ['[{"foo":1},{"foo":2}]', { ...missing, "invalid-event-number": 0 }],
  ['{"event":""}{"event":""}', { ...blank, "invalid-event-number": 0 }],
  ['{"event":null},{"event":""}', { ...missing, "invalid-event-number": 0 }],
  ["[1,2]", { ...invalid, "invalid-event-number": 0 }],
  ['["a","b"]', { ...invalid, "invalid-event-number": 0 }],
  ["plain text", { ...invalid, "invalid-event-number": 0 }],
  ["{}{}{}", { ...missing, "invalid-event-number": 0 }],
  ['{"event":"a","fields":"b"}', {
    text: "Error in handling indexed fields",
    code: 15,
    "invalid-event-number": 0,
  }],
  ["[]", { text: "No data", code: 5 }],
  [" , \n", { text: "No data", code: 5 }],
];

Deno.test("HEC: a request without a single event is an error, however many faults it has", async () => {
  for (const [body, answer] of faulty) {
    const { status, text, events } = await receive("/services/collector", { body });
    assert.deepEqual([status, JSON.parse(text)], [400, answer], body);
    assert.deepEqual(events, [], body);
  }
});

Deno.test("HEC keeps the members beside an event", async () => {
  const body = '{"event":"a","host":7,"source":"s","index":null,"level":"error","shop":{"id":1}}';
  const { events } = await receive("/services/collector", { body });
  const attrs = { source: "s", shop: { id: 1 } };
  assert.deepEqual(events, [{ msg: "a", host: "7", level: "error", attrs }]);
});

Deno.test("HEC: the events beside a faulty one are stored, and the answer has the faulty one's number", async () => {
  for (
    const [body, number] of [
      ['{"event":"a"}{"foo":1}{"event":"b"}', 1],
      ['[{"event":""},{"event":"a"},{"event":"b"}]', 0],
      ['{"event":"a"} nonsense {"event":"b"}', 1],
      ['nonsense\n{"event":"a"}\n{"event":"b"}', 0],
      ['{"event":"a"}{"event":"b"}{"event":"c"', 2],
    ] as const
  ) {
    const { status, text, events } = await receive("/services/collector", { body });
    assert.deepEqual([status, JSON.parse(text)], [200, {
      text: "Success",
      code: 0,
      "invalid-event-number": number,
    }], body);
    assert.deepEqual(events.map(({ msg }) => msg), ["a", "b"], body);
  }
});
