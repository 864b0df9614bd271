import assert from "node:assert/strict";
import { allDoors, filesOfOperations } from "./doors.ts";

Deno.test("what is written from the list of operations is current: npm run migration", async () => {
  for (const [path, text] of await filesOfOperations()) {
    assert.equal(await Deno.readTextFile(path), text, path);
  }
});

Deno.test("the doors of an operation follow from its columns", async () => {
  const doors = Object.fromEntries((await allDoors()).map((door) => [door.operation, door]));
  const open = (operation: string) => {
    const { user, key, client, service } = doors[operation];
    return [user, key, client, service];
  };
  assert.deepEqual(open("search_logs"), [true, true, true, false]);
  assert.deepEqual(open("delete_logs"), [true, false, false, false]);
  assert.deepEqual(open("list_api_keys"), [true, false, false, true]);
  assert.deepEqual(open("create_tenant"), [true, false, false, false]);
  assert.deepEqual(open("read_logs"), [false, false, false, true]);
});
