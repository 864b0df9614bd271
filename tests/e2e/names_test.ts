import assert from "node:assert/strict";
import { assertAnswer, call, newTenant, rpc } from "../support/client.ts";

function names(count: number, nameOf: (n: number) => string): Record<string, string> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, n) => [nameOf(n), '":"'.repeat(n % 3)]),
  );
}

/** PostgREST would spend half a minute on similar names, so it must not get these requests. */
Deno.test("unknown names are refused before PostgREST looks for similar ones", async () => {
  const tenant = await newTenant();
  const long = "a".repeat(20_000);
  const escaped = "\\u0061".repeat(4_000);
  const bodies = [
    JSON.stringify({ [long]: 1 }),
    `{"${escaped}": 1}`,
    `{"p_tenant_id": "\\"", "${long}"  : 1}`,
    JSON.stringify(Object.fromEntries([["p_tenant_id", "x"], [`${long}\\"`, 1]])),
    JSON.stringify(names(2_000, (n) => `p_${n}`)),
    JSON.stringify([names(65, (n) => `p_${n}`)]),
    JSON.stringify({ p_filter: { a: [{ b: 1 }] }, ...names(65, (n) => `p_${n}`) }),
    JSON.stringify(names(20, (n) => `${n}`.padEnd(60, "p"))),
    JSON.stringify(names(65, (n) => "\n" + n)).replaceAll(":", "  :\t"),
  ];
  for (const token of [null, tenant.token]) {
    for (const body of bodies) {
      const answer = await rpc(token, "list_api_keys", {}, { body });
      assert.equal(answer.status, 404, body.slice(0, 40));
      assert.equal(answer.body.message, "No operation has these parameters");
    }
    const answer = await rpc(token, "a".repeat(6_000));
    assert.equal(answer.status, 404);
    assert.equal(answer.body.message, "No operation has this name");
  }
  const { status } = await rpc(tenant.token, "list_api_keys");
  assert.equal(status, 200);
});

Deno.test("the limit of names also holds in addresses, and in bodies that are not JSON", async () => {
  const many = Array.from({ length: 400 }, (_, n) => `p_${n}`);
  const long = await call(`/rest/v1/rpc/list_api_keys?${many.join("=1&")}=1`);
  assertAnswer(long, 414, { error: "Request address too long" });
  const columns = await call(`/rest/v1/rpc/list_api_keys?columns=${many.join()}`, {
    method: "POST",
    body: "{}",
  });
  assertAnswer(columns, 414, { error: "Request address too long" });
  for (const type of ["application/x-www-form-urlencoded", "text/csv; charset=utf-8"]) {
    const { status, body } = await call("/rest/v1/rpc/list_api_keys", {
      method: "POST",
      headers: { "content-type": type },
      body: many.join(type.includes("csv") ? "," : "=1&"),
    });
    assert.equal(status, 415, type);
    assert.deepEqual(body, {
      code: "PT415",
      message: "Operations accept only JSON",
      details: null,
      hint: null,
    });
  }
});

Deno.test("long values and usual members pass", async () => {
  const tenant = await newTenant();
  const rule = {
    p_name: "rule",
    p_description: `${'"'.repeat(600)}: ${"a".repeat(600)}": `,
    p_query_dsl: "level:error",
    p_threshold: 1,
    p_comparison: "gt",
    p_window_minutes: 5,
    p_cooldown_minutes: 5,
    p_enabled: false,
    p_notification_config: { ["m".repeat(256)]: "x" },
  };
  const { status, body } = await rpc(tenant.token, "create_alert_rule", rule);
  assert.equal(status, 200, JSON.stringify(body));
});

Deno.test("names within values do not count: the largest dashboard passes", async () => {
  const tenant = await newTenant();
  const panel = { title: "Errors", query_dsl: '"[{" | count()', kind: "lines", width: 6 };
  const p_panels = Array.from({ length: 20 }, () => panel);
  const dashboard = { p_name: "All", p_is_shared: true, p_panels };
  const { status, body } = await rpc(tenant.token, "create_log_dashboard", dashboard);
  assert.equal(status, 200, JSON.stringify(body));
  const again = { p_dashboard_id: body.dashboard_id, ...dashboard };
  assert.equal((await rpc(tenant.token, "update_log_dashboard", again)).status, 200);
  // PostgREST answers by itself.
  const within = await rpc(tenant.token, "list_api_keys", {
    p_filter: names(2_000, (n) => `p_${n}`),
  });
  assert.equal(within.status, 404);
  assert.equal(within.body.code, "PGRST202");
});

Deno.test("unclosed or endless brackets are read as fast", async () => {
  const tenant = await newTenant();
  for (const piece of ["[", "[],", '{"a":', '[{"a":', '["', ":[", '{"": {']) {
    const body = `{"p_filter":${piece.repeat(100_000 / piece.length)}`;
    const { status } = await rpc(tenant.token, "list_api_keys", {}, { body });
    assert.ok(status === 400 || status === 404, `${piece} ${status}`);
  }
});

Deno.test("a body that is too large for every operation is answered with 413", async () => {
  const tenant = await newTenant();
  const { status } = await rpc(tenant.token, "create_alert_rule", { p_name: "a".repeat(200_000) });
  assert.equal(status, 413);
});

Deno.test("each of 500 concurrent requests is answered", async () => {
  const tenant = await newTenant();
  const answers = await Promise.all(
    Array.from(
      { length: 500 },
      (_, n) =>
        n % 2 === 0
          ? rpc(tenant.token, "list_api_keys")
          : call("/functions/v1/ingest", { method: "POST", headers: tenant.headers, body: "{}" }),
    ),
  );
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
});
