import assert from "node:assert/strict";
import { createDatabase } from "../_shared/database.ts";
import { closedUrl, startPeer } from "../_shared/testing.ts";
import { createHealthHandler } from "./handler.ts";

const now = new Date("2026-12-31T23:30:00.000Z");
const timestamp = "2026-12-31T23:30:00.000Z";

/** A report of the database. */
function reportOf(status: string) {
  const view = (available: boolean, checks: Record<string, unknown>) => ({
    available,
    status,
    checks,
  });
  return {
    endpoints: {
      ready: view(status === "healthy", { queue: { depth: 7 }, writer: { status } }),
      queue: view(true, { queue: { depth: 7 } }),
      writer: view(true, { writer: { last_run: "2026-12-31T23:28:00+00:00" } }),
      partitions: view(true, { partitions: { current_exists: true } }),
      detailed: view(status !== "unhealthy", { jobs: { write_logs: { status } } }),
    },
  };
}

function handlerFor(url: string) {
  return createHealthHandler({
    callDatabase: createDatabase({ url, serviceKey: "key", timeoutMs: 60_000 }),
    now: () => now,
    serviceKeyName: "default",
  });
}

type Handler = ReturnType<typeof createHealthHandler>;

async function get(handler: Handler, path: string): Promise<[number, unknown]> {
  const response = await handler(new Request(`http://localhost${path}`));
  assert.equal(response.headers.get("Content-Type"), "application/json");
  assert.equal(response.headers.get("Access-Control-Allow-Origin"), "*");
  return [response.status, await response.json()];
}

Deno.test("/health says that the service runs, without asking the database", async () => {
  await using peer = startPeer(() => Response.json(reportOf("healthy")));
  const handler = handlerFor(peer.url);
  const running = { status: "healthy", timestamp, message: "Logloom is running" };
  for (
    const path of ["/health", "/health/", "/functions/v1/health", "/functions/v1/health?x=1"]
  ) {
    assert.deepEqual(await get(handler, path), [200, running]);
  }
  assert.equal(peer.requests.length, 0);
});

Deno.test("each endpoint shows its part of the database's report", async () => {
  const { endpoints } = reportOf("degraded");
  await using peer = startPeer(() => Response.json(reportOf("degraded")));
  const handler = handlerFor(peer.url);
  for (
    const [name, { available, status, checks: reported }] of Object.entries(endpoints)
  ) {
    const service_key = { name: "default" };
    const checks = name === "detailed" ? { ...reported, service_key } : reported;
    const expected = [available ? 200 : 503, { status, timestamp, checks }];
    assert.deepEqual(await get(handler, `/health/${name}`), expected);
    assert.deepEqual(await get(handler, `/functions/v1/health/${name}`), expected);
    // If the project has its own `health`, Logloom's function has another name.
    assert.deepEqual(await get(handler, `/logs-health/${name}`), expected);
  }
  assert.deepEqual([...new Set(peer.requests.map(({ path }) => path))], [
    "/rest/v1/rpc/health_report",
  ]);
});

Deno.test("readiness is 503 unless healthy, the detailed report only when unhealthy", async () => {
  for (
    const [status, ready, detailed] of [
      ["healthy", 200, 200],
      ["degraded", 503, 200],
      ["unhealthy", 503, 503],
    ] as const
  ) {
    await using peer = startPeer(() => Response.json(reportOf(status)));
    const handler = handlerFor(peer.url);
    assert.equal((await get(handler, "/health/ready"))[0], ready);
    assert.equal((await get(handler, "/health/detailed"))[0], detailed);
    for (const path of ["/queue", "/writer", "/partitions"]) {
      assert.equal((await get(handler, `/health${path}`))[0], 200);
    }
  }
});

Deno.test("while the database is unreachable all is unhealthy, and unknown values are null", async () => {
  const handler = handlerFor(closedUrl());
  const reason = "Not known: PostgREST does not answer";
  const queue = { depth: null, oldest_item_age_seconds: null, dead_letters: null, reason };
  const writer = { last_run: null, last_duration_ms: null, seconds_since_run: null, reason };
  const partitions = {
    current_partition: "logs_2026_12_31",
    current_exists: null,
    next_partition: "logs_2027_01_01",
    next_exists: null,
    reason,
  };
  const status = "unhealthy";
  const database = { status, reason: "PostgREST does not answer" };
  const expected: [string, number, unknown][] = [
    ["/ready", 503, { database, queue: { depth: null, reason }, writer: { status, reason } }],
    ["/queue", 200, { queue }],
    ["/writer", 200, { writer }],
    ["/partitions", 200, { partitions }],
    ["/detailed", 503, {
      database,
      queue: { status, ...queue },
      writer: { status, ...writer },
      partitions: { status, ...partitions },
      service_key: { name: "default" },
    }],
  ];
  for (const [path, code, checks] of expected) {
    assert.deepEqual(await get(handler, `/health${path}`), [code, { status, timestamp, checks }]);
  }
  assert.equal((await get(handler, "/health"))[0], 200);
});

Deno.test("the reason names what is known about an unreachable database", async () => {
  for (
    const [answer, reason] of [
      [
        () => Response.json({ code: "PGRST002", message: "m" }, { status: 503 }),
        "PostgREST cannot reach the database",
      ],
      [
        () => Response.json({ code: "57014", message: "m" }, { status: 500 }),
        "The database did not answer in time",
      ],
      [
        () => Response.json({ code: "42501", message: "of a tenant" }, { status: 403 }),
        "The database refused to answer (42501)",
      ],
      [() => new Response("Bad gateway", { status: 502 }), "PostgREST does not answer"],
      [
        () => new Response("<html>", { status: 404 }),
        "PostgREST is not reachable (404 from the gateway)",
      ],
    ] as const
  ) {
    await using peer = startPeer(answer);
    const [status, body] = await get(handlerFor(peer.url), "/health/ready");
    const { checks } = body as { checks: Record<string, Record<string, unknown>> };
    assert.deepEqual([status, checks.database], [503, { status: "unhealthy", reason }]);
    assert.equal(checks.writer.reason, `Not known: ${reason}`);
  }
});

Deno.test("a hanging database is reported after the time-out", async () => {
  const never = Promise.withResolvers<Response>();
  await using peer = startPeer(() => never.promise);
  const handler = createHealthHandler({
    callDatabase: createDatabase({ url: peer.url, serviceKey: "key", timeoutMs: 50 }),
    now: () => now,
    serviceKeyName: "default",
  });
  assert.equal((await get(handler, "/health/ready"))[0], 503);
  never.resolve(new Response());
});

Deno.test("concurrent requests share one call, and the next request makes a new one", async () => {
  await using peer = startPeer(() => Response.json(reportOf("healthy")));
  const handler = handlerFor(peer.url);
  await Promise.all(Array.from({ length: 50 }, () => get(handler, "/health/ready")));
  assert.equal(peer.requests.length, 1);
  await get(handler, "/health/ready");
  assert.equal(peer.requests.length, 2);
});

Deno.test("HEAD is GET without the body, other methods are 405, other paths 404", async () => {
  await using peer = startPeer(() => Response.json(reportOf("degraded")));
  const handler = handlerFor(peer.url);
  const head = await handler(
    new Request("http://localhost/health/ready", { method: "HEAD" }),
  );
  assert.equal(head.status, 503);
  assert.equal(head.headers.get("Content-Type"), "application/json");
  assert.equal(await head.text(), "");

  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const response = await handler(
      new Request("http://localhost/health/ready", { method }),
    );
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("Allow"), "GET, HEAD, OPTIONS");
    assert.deepEqual(await response.json(), { error: `Method not allowed: ${method}` });
  }
  const options = await handler(
    new Request("http://localhost/health", { method: "OPTIONS" }),
  );
  assert.equal(options.status, 204);

  for (
    const path of ["/health/x", "/health/ready/x", "/health/constructor", "/"]
  ) {
    assert.deepEqual(await get(handler, path), [404, { error: "Unknown health endpoint" }]);
  }
});
