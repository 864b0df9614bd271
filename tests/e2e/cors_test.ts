import assert from "node:assert/strict";
import { call, health, ingest, newTenant, rpc } from "../support/client.ts";

const origin = "https://app.example.com";

function preflight(path: string, method: string, headers: string) {
  return call(path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": method,
      "access-control-request-headers": headers,
    },
  });
}

Deno.test("a browser may send events, and may read why they were refused", async () => {
  const wanted = "authorization, content-type, x-api-key, idempotency-key, content-encoding";
  const { status, headers } = await preflight("/functions/v1/ingest", "POST", wanted);
  assert.equal(status, 204);
  assert.equal(headers.get("access-control-allow-origin"), "*");
  assert.equal(headers.get("access-control-allow-methods"), "POST, OPTIONS");
  const allowed = headers.get("access-control-allow-headers")?.split(", ") ?? [];
  for (const header of wanted.split(", ")) assert.ok(allowed.includes(header), header);

  const tenant = await newTenant();
  for (
    const answer of [
      await ingest({ ...tenant.headers, origin }, []),
      await ingest({ origin }, []),
      await ingest({ ...tenant.headers, origin }, "{"),
      await call("/functions/v1/ingest", { headers: { origin } }),
    ]
  ) {
    assert.equal(answer.headers.get("access-control-allow-origin"), "*", `${answer.status}`);
    assert.match(answer.headers.get("access-control-expose-headers") ?? "", /retry-after/);
  }
});

Deno.test("a browser may ask for health", async () => {
  const { status, headers } = await preflight("/functions/v1/health/ready", "GET", "apikey");
  assert.equal(status, 204);
  assert.equal(headers.get("access-control-allow-methods"), "GET, HEAD, OPTIONS");
  const answer = await health("/ready", { headers: { origin } });
  assert.equal(answer.headers.get("access-control-allow-origin"), "*");
});

Deno.test("a browser may call operations", async () => {
  const wanted = "authorization,apikey,content-type,x-client-info";
  const { status, headers } = await preflight("/rest/v1/rpc/list_api_keys", "POST", wanted);
  assert.equal(status, 200);
  assert.equal(headers.get("access-control-allow-origin"), "*");
  assert.match(headers.get("access-control-allow-methods") ?? "", /\bPOST\b/);
  assert.equal(headers.get("access-control-allow-headers"), wanted);

  const tenant = await newTenant();
  for (const token of [tenant.token, "nonsense", null]) {
    const answer = await rpc(token, "list_api_keys");
    assert.equal(answer.headers.get("access-control-allow-origin"), "*", `${answer.status}`);
  }
});
