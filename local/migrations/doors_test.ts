import assert from "node:assert/strict";
import { allDoors, doorsFile, pageOfDoors } from "./doors.ts";

Deno.test("docs/reference/api/doors.md has the current table: npm run migration writes it", async () => {
  const page = await Deno.readTextFile(doorsFile);
  const all = await allDoors();
  assert.ok(all.length > 50);
  const written = (text: string) => text.replace(/ +\|/g, " |").replace(/-+/g, "-");
  assert.equal(written(pageOfDoors(page, all)), written(page));
});

Deno.test("the doors of an operation follow from its lists and its parameters", async () => {
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
