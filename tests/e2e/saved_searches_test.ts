import assert from "node:assert/strict";
import { rpc } from "../support/client.ts";
import { openDatabase } from "../support/database.ts";
import { newUser, refused } from "../support/users.ts";

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?\+00:00$/;
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

Deno.test("a saved search is kept, found, changed and deleted", async () => {
  const { client, id: userId } = await newUser();
  const id = await client.call("create_saved_search", {
    p_name: "Errors of the API",
    p_query_dsl: "level:error service:api",
    p_description: "What to look at first",
    p_category: "on call",
    p_tags: ["api", "errors"],
  });
  assert.match(id, uuid);

  const search = await client.call("get_saved_search", { p_id: id });
  assert.match(search.created_at, timestamp);
  assert.deepEqual(search, {
    id,
    name: "Errors of the API",
    description: "What to look at first",
    query_dsl: "level:error service:api",
    category: "on call",
    is_shared: false,
    tags: ["api", "errors"],
    created_by: userId,
    created_at: search.created_at,
    updated_at: search.created_at,
    last_run_at: null,
    run_count: 0,
    view_id: null,
    display: {},
  });
  assert.deepEqual(await client.call("list_saved_searches", {}), [search]);
  assert.equal(await client.call("get_saved_search_count", {}), 1);
  assert.deepEqual(await client.call("get_saved_search_categories", {}), ["on call"]);

  const changed = await client.call("update_saved_search", {
    p_id: id,
    p_name: "API errors",
    p_category: "",
  });
  assert.ok(changed.updated_at > search.updated_at);
  assert.deepEqual(changed, {
    ...search,
    name: "API errors",
    category: null,
    updated_at: changed.updated_at,
  });

  assert.deepEqual(await client.call("delete_saved_search", { p_id: id }), { success: true });
  await refused(client.call("get_saved_search", { p_id: id }), 404, "Saved search not found");
  assert.deepEqual(await client.call("list_saved_searches", {}), []);
  assert.equal(await client.call("get_saved_search_count", {}), 0);
  assert.deepEqual(await client.call("get_saved_search_categories", {}), []);
});

Deno.test("a plan's limit holds when everybody saves at once", async () => {
  await using db = openDatabase();
  const first = await newUser();
  await first.client.call("update_tenant_settings", {});
  await db`update logloom.tenants set plan_id = 'pro' where tenant_id = ${first.tenantId}`;
  const users = [first, ...await Promise.all([1, 2, 3, 4].map(() => newUser(first.tenantId)))];
  assert.deepEqual(
    await first.client.call("check_plan_feature", { p_feature: "saved_searches" }),
    { enabled: true, maxCount: 50, currentCount: 0 },
  );

  const answers = await Promise.allSettled(
    Array.from(
      { length: 75 },
      (_, i) =>
        users[i % users.length].client.call("create_saved_search", {
          p_name: `${i}`,
          p_query_dsl: "ts:*",
        }),
    ),
  );
  const messages = answers.map((one) => one.status === "fulfilled" ? "saved" : one.reason.message);
  assert.equal(messages.filter((message) => message === "saved").length, 50);
  assert.deepEqual(
    [...new Set(messages)].sort(),
    ["Plan limit exceeded: saved_searches (max 50)", "saved"],
  );
  const [{ count }] = await db`
    select count(*)::integer from logloom.saved_searches where tenant_id = ${first.tenantId}`;
  assert.equal(count, 50);
  assert.deepEqual(
    await first.client.call("check_plan_feature", { p_feature: "saved_searches" }),
    { enabled: true, maxCount: 50, currentCount: 50 },
  );
});

Deno.test("the first writes of a new tenant may come all at once", async () => {
  const { client } = await newUser();
  const answers = await Promise.allSettled(
    Array.from(
      { length: 12 },
      (_, i) => client.call("create_saved_search", { p_name: `${i}`, p_query_dsl: "ts:*" }),
    ),
  );
  assert.deepEqual(
    answers.map((one) => one.status === "fulfilled" ? 200 : one.reason.status).sort(),
    [...Array(10).fill(200), 400, 400],
  );
});

Deno.test("hostile texts are stored unchanged or refused", async () => {
  const { token, client } = await newUser();
  const name = `'; drop table logloom.saved_searches; -- \u202e"\\ $$ {{x}} 🪵`;
  const id = await client.call("create_saved_search", { p_name: name, p_query_dsl: "ts:*" });
  assert.equal((await client.call("get_saved_search", { p_id: id })).name, name);
  for (
    const parameters of [
      { p_name: "nul \u0000", p_query_dsl: "ts:*" },
      { p_name: "n", p_query_dsl: "ts:*", p_tags: "no array" },
      { p_name: "n", p_query_dsl: "ts:*", p_is_shared: "perhaps" },
    ]
  ) {
    const { status } = await rpc(token, "create_saved_search", parameters);
    assert.equal(status, 400, JSON.stringify(parameters));
  }
  assert.equal((await rpc(token, "get_saved_search", { p_id: "x" })).status, 400);
  assert.equal(await client.call("get_saved_search_count", {}), 1);
});
