import assert from "node:assert/strict";
import { keyChecksum } from "../../_shared/auth.ts";
import { createReadHandler } from "../handler.ts";
import { problem } from "../problem.ts";

const unsigned = `llp_${"A".repeat(30)}`;
const token = `${unsigned}${keyChecksum(unsigned)}`;

/** What a page is told of its operations, of which the database answers each with a status. */
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

Deno.test("an operation is open unless it is refused to who asks", async () => {
  const open = ["search_logs", "get_log_context", "tail_logs"];
  const { status, body, asked } = await told((operation) =>
    // Whoever is told to wait may call it.
    operation === "tail_logs" ? 429 : open.includes(operation) ? 400 : 403
  );
  assert.equal(status, 200);
  assert.deepEqual(body.operations.sort(), open.sort());
  assert.equal(new Set(asked).size, asked.length, "each once");
});

Deno.test("nothing is said to who is not known, or while the database is away", async () => {
  for (const status of [401, 503]) {
    const { status: answered } = await told((one) => one === "log_stats" ? status : 400);
    assert.equal(answered, status);
  }
});
