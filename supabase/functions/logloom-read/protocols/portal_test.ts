import assert from "node:assert/strict";
import { keyChecksum } from "../../_shared/auth.ts";
import { createReadHandler } from "../handler.ts";
import { problem } from "../error_answer.ts";

const unsigned = `llp_${"A".repeat(30)}`;
const token = `${unsigned}${keyChecksum(unsigned)}`;

/** The operations that the page gets, if the database answers each with a status. */
async function told(statusOf: (operation: string) => number) {
  const asked: string[] = [];
  const handler = createReadHandler({
    callDatabase: (_reader, operation) => {
      asked.push(operation);
      return Promise.resolve(problem(statusOf(operation), "refused"));
    },
  });
  const answer = await handler(
    new Request("https://project.example/functions/v1/logloom-read/v1/portal/operations", {
      method: "POST",
      headers: { Authorization: `Bearer ${token}` },
    }),
  );
  return { status: answer.status, body: await answer.json(), asked };
}

Deno.test("an operation is listed unless the reader may not call it", async () => {
  const open = ["search_logs", "get_log_context", "tail_logs"];
  const { status, body, asked } = await told((operation) =>
    // A 429 means that the reader may call the operation.
    operation === "tail_logs" ? 429 : open.includes(operation) ? 400 : 403
  );
  assert.equal(status, 200);
  assert.deepEqual(body.operations.sort(), open.sort());
  assert.equal(new Set(asked).size, asked.length, "each once");
});

Deno.test("all operations that decide what the page shows are asked for", async () => {
  const { asked } = await told(() => 403);
  const page = await Deno.readTextFile(
    new URL("../../../../console/src/portal/use-allowed-parts.ts", import.meta.url),
  );
  const [, deciding] = page.match(/const operationsOf = \{(.*?)\n\}/s) ?? [];
  const names = [...deciding?.matchAll(/"(\w+)"/g) ?? []].map(([, name]) => name);
  assert.ok(names.includes("log_series"));
  assert.deepEqual(names.filter((name) => !asked.includes(name)), []);
});

Deno.test("an unknown reader, or an unreachable database, gives an error", async () => {
  for (const status of [401, 503]) {
    const { status: answered } = await told((one) => one === "log_stats" ? status : 400);
    assert.equal(answered, status);
  }
});
