import assert from "node:assert/strict";
import { checkout } from "../../local/stack.ts";
import { createKey, ingest, newTenant } from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { stack } from "../support/stack.ts";

async function run(key: string) {
  const { code, stdout, stderr } = await new Deno.Command("node", {
    args: ["mcp.mjs"],
    cwd: `${checkout}/examples`,
    env: { LOGLOOM_URL: stack.url, READ_KEY: key },
    stdin: "null",
  }).output();
  return {
    code,
    said: new TextDecoder().decode(stdout),
    failure: new TextDecoder().decode(stderr),
  };
}

Deno.test("examples/mcp.mjs prints what failed, by the shape of the messages", async () => {
  const tenant = await newTenant("mcp-example");
  await ingest(tenant.headers, [
    ...[1, 2, 3].map((n) => ({ msg: `order ${n} declined`, level: "error" })),
    { msg: "out of stock", level: "error" },
    { msg: "order 4 paid", level: "info" },
  ]);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, 5);
  const { key_value } = await createKey(tenant, { p_scopes: ["read"] });
  const { code, said, failure } = await run(key_value);
  assert.deepEqual([code, said], [0, "3 × order <*> declined\n1 × out of stock\n"], failure);
  assert.equal((await run("ll_none")).code, 1);
});
