import assert from "node:assert/strict";
import { startPeer } from "../_shared/testing.ts";
import type { Reader } from "./reader.ts";
import { createReadDatabase } from "./database.ts";
import { createReadHandler } from "./handler.ts";

const key: Reader = { kind: "api_key", keyDigest: "00" };
const user: Reader = { kind: "user", token: "a.b.c" };

async function answered(answer: () => Response, reader: Reader, operation = "search_logs") {
  await using peer = startPeer(answer);
  const ask = createReadDatabase({ url: peer.url, serviceKey: "service", timeoutMs: 60_000 });
  const { status, headers, body } = await ask(reader, operation, "{}");
  const text = await new Response(body).text();
  return { status, length: text.length, text: text.slice(0, 300), headers, asked: peer.requests };
}

const mebibytes = (count: number) => new Uint8Array(count * 1024 * 1024).fill(0x20);

function inPieces(count: number): Response {
  let left = count;
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(mebibytes(1));
        else controller.close();
      },
    }),
  );
}

Deno.test("an answer has at most 10 MiB, except a page of an export", async () => {
  for (const answer of [() => new Response(mebibytes(11)), () => inPieces(11)]) {
    const { status, text } = await answered(answer, key);
    assert.equal(status, 400);
    assert.match(text, /"PT400","message":"The answer is too large: more than 10485760 bytes"/);
    const page = await answered(answer, key, "export_logs");
    assert.deepEqual([page.status, page.length], [200, 11 * 1024 * 1024]);
  }
  for (const answer of [() => new Response(mebibytes(10)), () => inPieces(10)]) {
    assert.equal((await answered(answer, user)).status, 200);
  }
});

Deno.test("only errors of the database are passed on", async () => {
  for (const reader of [key, user]) {
    for (const status of [403, 404, 413, 502]) {
      const answer = () => new Response("<h1>proxy of 10.0.0.7</h1>", { status });
      const { status: told, text } = await answered(answer, reader);
      assert.deepEqual([told, text.includes("10.0.0.7")], [503, false]);
    }
  }
  // These errors are final: a retry would fail again.
  for (
    const [code, status, told] of [["54001", 413, 500], ["42601", 400, 500], ["42883", 404, 503]]
  ) {
    const inner = { code, message: "stack depth limit exceeded", hint: "max_stack_depth" };
    const answer = await answered(() => Response.json(inner, { status: Number(status) }), key);
    assert.deepEqual([answer.status, answer.text.includes("stack")], [told, false]);
    assert.equal(answer.headers.has("Retry-After"), told === 503);
  }
  for (const reader of [key, user]) {
    const hidden = { code: "PGRST106", message: "Invalid schema: public" };
    const answer = await answered(() => Response.json(hidden, { status: 406 }), reader);
    assert.equal(answer.status, 503);
    assert.match(answer.text, /"The schema public is not exposed: add it to the project's exposed/);
    assert.equal(answer.asked[0].headers.get("content-profile"), "public");
    const readOnly = { code: "25006", message: "cannot execute UPDATE in a read-only transaction" };
    const later = await answered(() => Response.json(readOnly, { status: 405 }), reader);
    assert.equal(later.status, 503);
    assert.match(later.text, /"The database is read-only, try again later"/);
  }
  const ours = { code: "PT429", message: "Too many searches", details: null, hint: null };
  const busy = await answered(
    () => Response.json(ours, { status: 429, headers: { "Retry-After": "1" } }),
    key,
  );
  assert.deepEqual([busy.status, busy.headers.get("retry-after")], [429, "1"]);
});

Deno.test("an unexpected error shows only its place", async () => {
  const written: string[] = [];
  const error = console.error;
  console.error = (line: string) => written.push(line);
  try {
    const handler = createReadHandler({
      callDatabase: () => Promise.reject(new Error("secret of a query")),
    });
    const answer = await handler(
      new Request("https://project.example/functions/v1/logloom-read/v1/search_logs", {
        method: "POST",
        headers: { authorization: "Bearer a.b.c" },
        body: "{}",
      }),
    );
    assert.equal(answer.status, 500);
    assert.ok(!(await answer.text()).includes("secret"));
    assert.equal(answer.headers.get("access-control-allow-origin"), "*");
    assert.equal(written.length, 1);
    assert.ok(!written[0].includes("secret"));
  } finally {
    console.error = error;
  }
});
