import assert from "node:assert/strict";
import { allCallers, filesOfOperations } from "./operation_callers.ts";

Deno.test("files generated from the list of operations are current: npm run migration", async () => {
  for (const [path, text] of await filesOfOperations()) {
    assert.equal(await Deno.readTextFile(path), text, path);
  }
});

Deno.test("the callers of an operation follow from its row in the list", async () => {
  const callers = Object.fromEntries((await allCallers()).map((row) => [row.operation, row]));
  const open = (operation: string) => {
    const { user, key, client, service } = callers[operation];
    return [user, key, client, service];
  };
  assert.deepEqual(open("search_logs"), [true, true, true, false]);
  assert.deepEqual(open("delete_logs"), [true, false, false, false]);
  assert.deepEqual(open("list_api_keys"), [true, false, false, true]);
  assert.deepEqual(open("create_tenant"), [true, false, false, false]);
  assert.deepEqual(open("read_logs"), [false, false, false, true]);
});
