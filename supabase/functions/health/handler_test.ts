import assert from "node:assert/strict";
import { createDatabase } from "../_shared/database.ts";
import { closedUrl, startPeer } from "../_shared/testing.ts";
import { createHealthHandler } from "./handler.ts";

const now = new Date("2026-12-31T23:30:00.000Z");
const timestamp = "2026-12-31T23:30:00.000Z";

function reportOf(status: string, queueStatus = status) {
  return {
    status,
    timestamp: "2026-12-31T23:29:59.9+00:00",
    checks: {
      queue: { status: queueStatus, depth: 7, oldest_item_age_seconds: 1.5, dead_letters: 2 },
      writer: {
        status: "degraded",
        last_run: "2026-12-31T23:28:00+00:00",
        last_duration_ms: 12.5,
        seconds_since_run: 120,
      },
      partitions: {
        status: "healthy",
        current_partition: "logs_2026_12_31",
        current_exists: true,
        next_partition: "logs_2027_01_01",
        next_exists: true,
      },
      jobs: {},
    },
  };
}

function handlerFor(url: string) {
  return createHealthHandler({
    callDatabase: createDatabase({ url, serviceRoleKey: "key", timeoutMs: 5000 }),
    now: () => now,
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
  for (const path of ["/health", "/health/", "/functions/v1/health", "/functions/v1/health?x=1"]) {
    assert.deepEqual(await get(handler, path), [200, running]);
  }
  assert.equal(peer.requests.length, 0);
});

Deno.test("each endpoint shows its part of the one report", async () => {
  const report = reportOf("degraded", "healthy");
  await using peer = startPeer(() => Response.json(report));
  const handler = handlerFor(peer.url);
  const shown: [string, number, unknown][] = [
    ["/ready", 503, {
      status: "degraded",
      timestamp,
      checks: { queue: { depth: 7 }, writer: { status: "degraded" } },
    }],
    ["/queue", 200, {
      status: "healthy",
      timestamp,
      checks: { queue: { depth: 7, oldest_item_age_seconds: 1.5, dead_letters: 2 } },
    }],
    ["/writer", 200, {
      status: "degraded",
      timestamp,
      checks: {
        writer: {
          last_run: "2026-12-31T23:28:00+00:00",
          last_duration_ms: 12.5,
          seconds_since_run: 120,
        },
      },
    }],
    ["/partitions", 200, {
      status: "healthy",
      timestamp,
      checks: {
        partitions: {
          current_partition: "logs_2026_12_31",
          current_exists: true,
          next_partition: "logs_2027_01_01",
          next_exists: true,
        },
      },
    }],
    ["/detailed", 200, { status: "degraded", timestamp, checks: report.checks }],
  ];
  for (const [path, status, body] of shown) {
    assert.deepEqual(await get(handler, `/health${path}`), [status, body]);
    assert.deepEqual(await get(handler, `/functions/v1/health${path}`), [status, body]);
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

Deno.test("while the database is away all is unhealthy and nothing is made up", async () => {
  const handler = handlerFor(closedUrl());
  const queue = { depth: null, oldest_item_age_seconds: null };
  const writer = { last_run: null, last_duration_ms: null, seconds_since_run: null };
  const partitions = {
    current_partition: "logs_2026_12_31",
    current_exists: null,
    next_partition: "logs_2027_01_01",
    next_exists: null,
  };
  const status = "unhealthy";
  const expected: [string, number, unknown][] = [
    ["/ready", 503, { queue: { depth: null }, writer: { status } }],
    ["/queue", 200, { queue }],
    ["/writer", 200, { writer }],
    ["/partitions", 200, { partitions }],
    ["/detailed", 503, {
      queue: { status, ...queue },
      writer: { status, ...writer },
      partitions: { status, ...partitions },
    }],
  ];
  for (const [path, code, checks] of expected) {
    assert.deepEqual(await get(handler, `/health${path}`), [code, { status, timestamp, checks }]);
  }
  assert.equal((await get(handler, "/health"))[0], 200);
});

Deno.test("a database that hangs is told of after the time-out", async () => {
  const never = Promise.withResolvers<Response>();
  await using peer = startPeer(() => never.promise);
  const handler = createHealthHandler({
    callDatabase: createDatabase({ url: peer.url, serviceRoleKey: "key", timeoutMs: 50 }),
    now: () => now,
  });
  assert.equal((await get(handler, "/health/ready"))[0], 503);
  never.resolve(new Response());
});

Deno.test("many who ask at once share one call, and the next one asks anew", async () => {
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
  const head = await handler(new Request("http://localhost/health/ready", { method: "HEAD" }));
  assert.equal(head.status, 503);
  assert.equal(head.headers.get("Content-Type"), "application/json");
  assert.equal(await head.text(), "");

  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) {
    const response = await handler(new Request("http://localhost/health/ready", { method }));
    assert.equal(response.status, 405);
    assert.equal(response.headers.get("Allow"), "GET, HEAD, OPTIONS");
    assert.deepEqual(await response.json(), { error: `Method not allowed: ${method}` });
  }
  const options = await handler(new Request("http://localhost/health", { method: "OPTIONS" }));
  assert.equal(options.status, 204);

  for (const path of ["/health/x", "/health/ready/x", "/health/constructor", "/healthy", "/"]) {
    assert.deepEqual(await get(handler, path), [404, { error: "Unknown health endpoint" }]);
  }
});
