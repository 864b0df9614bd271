import assert from "node:assert/strict";
import { mixedLoad, tenantName } from "./mixed_load.ts";
import { stack } from "../support/stack.ts";
import { newUser } from "../support/users.ts";

const seconds = 10;
const least = 1000;

Deno.test("50 users of 10 tenants at once: nothing fails and nobody sees another tenant", async () => {
  const tenants = Array.from({ length: 10 }, tenantName);
  const users = await Promise.all(Array.from({ length: 50 }, (_, i) => newUser(tenants[i % 10])));
  const load = await mixedLoad(stack.url, users, seconds, least);
  assert.deepEqual(load.unexpected.slice(0, 5), []);
  assert.deepEqual(load.leaks.slice(0, 5), []);
  const statuses = [...load.statuses.keys()].filter((status) => status !== 429);
  assert.deepEqual(statuses.sort(), [200, 400, 403, 404]);
});
