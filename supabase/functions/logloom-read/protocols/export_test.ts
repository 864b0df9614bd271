import assert from "node:assert/strict";
import { keyChecksum } from "../../_shared/auth.ts";
import { createReadHandler } from "../handler.ts";

const unsigned = `ll_${"A".repeat(30)}`;
const headers = { "x-api-key": `${unsigned}${keyChecksum(unsigned)}` };

type Answer = Partial<{ text: string; records: number; next_cursor: string | null }> | Response;

/** An export with these pages. Returns also the parameters of each call. */
async function exported(pages: Answer[], parameters: Record<string, string> = {}) {
  const calls: Record<string, unknown>[] = [];
  const handler = createReadHandler({
    callDatabase: (_reader, _operation, text) => {
      const page = pages[calls.length];
      calls.push(JSON.parse(text));
      if (page instanceof Response) return Promise.resolve(page);
      return Promise.resolve(
        Response.json({ text: "", records: 0, cursor: "first", next_cursor: null, ...page }),
      );
    },
  });
  const query = new URLSearchParams(parameters);
  const url = `https://project.example/functions/v1/logloom-read/v1/export?${query}`;
  return { answer: await handler(new Request(url, { headers })), calls };
}

async function lengthUntilBrokenOff({ body }: Response): Promise<number> {
  let length = 0;
  await assert.rejects(async () => {
    for await (const chunk of body ?? []) length += chunk.length;
  }, /not complete: continue after its last record/);
  return length;
}

const away = () => Response.json({ code: "PT503", message: "Away" }, { status: 503 });

Deno.test("an export continues after an empty page", async () => {
  const pages = [
    { next_cursor: "2" },
    { next_cursor: "3" },
    { text: "a\n", records: 1, next_cursor: "4" },
    { next_cursor: "5" },
    {},
  ];
  const { answer, calls } = await exported(pages);
  assert.equal(await answer.text(), 'a\n{"complete":true}\n');
  assert.deepEqual(calls.map(({ p_cursor }) => p_cursor), [undefined, "2", "3", "4", "5"]);
});

Deno.test("a response ends with its last page, without a further call", async () => {
  const full = { text: "a\n", records: 50_000, next_cursor: "2" };
  const { answer, calls } = await exported([full]);
  assert.equal(await answer.text(), 'a\n{"next_cursor":"2"}\n');
  assert.equal(calls.length, 1);
  const large = { text: "x".repeat(32_000_000), records: 1, next_cursor: "2" };
  const csv = await exported([{ text: "a\r\n", records: 1, next_cursor: "1" }, large], {
    format: "csv",
  });
  assert.equal(await lengthUntilBrokenOff(csv.answer), 32_000_003);
  assert.equal(csv.calls.length, 2);
});

Deno.test("an incomplete CSV is broken off after its records", async () => {
  const page = { text: "a\r\n", records: 50_000, next_cursor: "2" };
  const cut = await exported([page], { format: "csv" });
  assert.equal(await lengthUntilBrokenOff(cut.answer), 3);
  const whole = await exported([{ ...page, next_cursor: null }], { format: "csv" });
  assert.equal(await whole.answer.text(), "a\r\n");
});

Deno.test("an unknown format is refused", async () => {
  for (const format of ["json", "xml", "toString"]) {
    const { answer, calls } = await exported([], { format });
    const { message } = await answer.json();
    assert.deepEqual([answer.status, message, calls.length], [
      400,
      "Invalid format: ndjson or csv",
      0,
    ]);
  }
});

Deno.test("if the database becomes unreachable, NDJSON ends with a cursor, and a CSV is broken off", async () => {
  const page = { text: "a\n", records: 1, next_cursor: "2" };
  const { answer } = await exported([page, away()]);
  assert.equal(await answer.text(), 'a\n{"error":"Away","next_cursor":"2"}\n');
  const csv = await exported([page, away()], { format: "csv" });
  await assert.rejects(csv.answer.text(), /not complete/);
  const first = await exported([away()]);
  assert.equal(first.answer.status, 503);
});

Deno.test("a cursor whose plus was decoded as a space is understood", async () => {
  const after = "2026-11-21T12:30:00.5 00:00,00000000-0000-4000-8000-000000000000";
  const { calls } = await exported([{}], { after });
  assert.equal(calls[0].p_after, after.replace(" ", "+"));
});

Deno.test("records in JSON are sent unchanged, one a line", async () => {
  const records = [
    '{"id":"1","n":1.50,"big":12345678901234567890,"msg":"a\\n]}, {\\"logs\\":["}',
    '{"id":"2","attrs":{"a": [1, {"b": "}"}]}, "msg":"💡"}',
  ];
  const page = (logs: string, count: number) =>
    new Response(`{"text":"","records":${count},"cursor":"c","next_cursor":null,"logs":${logs}}`);
  for (const [logs, count] of [[records.join(", \n "), 2], [records[0], 1], ["", 0]] as const) {
    const { answer, calls } = await exported([page(`[${logs}]`, count)]);
    assert.equal(calls[0].p_format, "json");
    assert.equal(
      await answer.text(),
      [...records.slice(0, count), '{"complete":true}', ""].join("\n"),
    );
  }
  const wrong = await exported([page(`[${records.join(",")}]`, 2)]);
  assert.equal(wrong.answer.status, 500);
});
