import assert from "node:assert/strict";
import { registers } from "../../local/migrations/errors_page.ts";
import { newTenant, rpc } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";

Deno.test("docs/reference/errors.md matches the database's register of errors", async () => {
  await using db = openDatabase();
  for (const { name, hint, errors } of await registers()) {
    const answered = await db`
      select e.name, e.status, e.message, e.hint, e.explanation
      from logloom_private.errors(${name}) with ordinality
        e (name, status, message, hint, explanation, n)
      order by e.n`;
    assert.deepEqual(
      answered.map((error) => ({ ...error })),
      errors.map((error) => ({ ...error, hint: error.hint ?? hint })),
    );
  }
});

Deno.test("an error has its status, its values, and its hint", async () => {
  const { token } = await newTenant();
  const answerTo = async (token: string | null, operation: string, parameters = {}) => {
    const { status, body } = await rpc(token, operation, parameters);
    return { status, body };
  };
  assert.deepEqual(await answerTo(token, "get_saved_search"), {
    status: 400,
    body: {
      code: "PT400",
      message: "Missing required parameter: p_id",
      details: '{"name": "parameters.missing"}',
      hint: "It has no default: give p_id a value.",
    },
  });
  assert.deepEqual(await answerTo(token, "log_stats", { p_query_dsl: "level:%s" }), {
    status: 400,
    body: {
      code: "PT400",
      message: 'Unknown level "%s"',
      details: '{"name": "query.level_is_unknown", "position": 7}',
      hint: "A level is debug, info, warn or error, or an alias of one; level:>=warn is a range.",
    },
  });
  assert.deepEqual(await answerTo(null, "log_stats"), {
    status: 400,
    body: {
      code: "PT400",
      message: "Missing authorization header",
      details: '{"name": "callers.authorization_is_missing"}',
      hint: "Send Authorization: Bearer <access token>.",
    },
  });
});
