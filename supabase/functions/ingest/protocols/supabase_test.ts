import assert from "node:assert/strict";
import { createOwnTraffic } from "../own_drain_events.ts";
import { eventsOf, receive } from "../testing_protocols.ts";
import { apiKey, startDatabase, startIngest } from "../testing.ts";
import { asProtobuf, type OtlpRequest } from "./testing_otlp_requests.ts";

type Event = Record<string, unknown>;

/** An event of a Supabase project, with the source that logs it. */
type Logged = [source: string, event: Event];

const project = "abcdefghijklmnopqrst";
const user = "11111111-1111-4111-8111-111111111111";
const trace = "4bf92f3577b34da6a3ce929d0e0e4736";
const us = Date.parse("2026-11-21T12:34:56.789Z") * 1000;

const id = (n: number) => `00000000-0000-4000-8000-00000000000${n}`;
const ingestId = id(1);
const deploymentId = `${project}_${ingestId}_7`;

function logged(source: string, message: string, metadata: Event, more: Event = {}): Logged {
  const event = { id: id(0), event_message: message, timestamp: us, project, metadata };
  return [source, { ...event, ...more }];
}

function request(path: string, status: number, agent: string, more: Event = {}): Logged {
  const url = `https://${project}.supabase.co${path}`;
  return logged("edge_logs", `POST | ${status} | 192.0.2.1 | 8a1f | ${url} | ${agent}`, {
    request: { method: "POST", path, url, headers: { user_agent: agent }, ...more },
    response: { status_code: status },
  });
}

function invocation(pathname: string, function_id: string, ref = project): Logged {
  const url = `https://${ref}.supabase.co${pathname}`;
  return logged("function_edge_logs", `POST | 200 | ${url}`, {
    function_id,
    project_ref: ref,
    request: { method: "POST", pathname, url, headers: { user_agent: "Supabase" } },
    response: { status_code: 200 },
  }, { project: ref });
}

function functionLine(message: string, function_id: string): Logged {
  const metadata = { event_type: "Log", level: "info", function_id, project_ref: project };
  return logged("function_logs", message, metadata);
}

function postgresLine(message: string, severity: string, backend_type: string): Logged {
  const parsed = { error_severity: severity, sql_state_code: "23505", backend_type };
  return logged("postgres_logs", message, { host: `db-${project}`, parsed });
}

/** A line of log_statement, or of log_min_duration_statement, about a call by PostgREST. */
const statement = (operation: string, before = "") =>
  postgresLine(
    `${before}execute 12: WITH pgrst_source AS (SELECT "public"."${operation}"($1) pgrst_scalar) SELECT`,
    "LOG",
    "client backend",
  );

const cron = (command: string) =>
  postgresLine(`cron job 3 starting: ${command}`, "LOG", "pg_cron launcher");

/** An event of each source, and its record. */
const real: [Logged, service: string, level: string, fields?: Event][] = [
  [
    request("/rest/v1/orders", 503, "node", { sb: { auth_user: user } }),
    "edge",
    "error",
    { route: "/rest/v1/orders", user_id: user, req_id: trace },
  ],
  [postgresLine("duplicate key", "ERROR", "client backend"), "postgres", "error", { sql: "23505" }],
  [
    logged("auth_logs", "login", { level: "warning", auth_event: { actor_id: user } }),
    "auth",
    "warn",
    { user_id: user },
  ],
  [logged("storage_logs", "stored", { level: "info", tenantId: project }), "storage", "info"],
  [invocation("/functions/v1/pay", id(5)), "functions", "info", { route: "/functions/v1/pay" }],
  [functionLine("paid", id(5)), "functions", "info"],
  [
    logged("realtime_logs", "joined", { level: "error", context: { application: "realtime" } }),
    "realtime",
    "error",
  ],
];
Object.assign(real[0][0][1], { trace_id: trace, request_id: id(9) });

function flat(value: object, before = ""): [string, string][] {
  return Object.entries(value).flatMap(([key, member]) =>
    typeof member === "object"
      ? flat(member, `${before}${key}.`)
      : [[`${before}${key}`, `${member}`]]
  );
}

/** How a drain delivers events. Supabase sends the events of one source together. */
type Delivery = (source: string, events: Event[]) => {
  path: string;
  headers?: Record<string, string>;
  body: BodyInit;
};

const otlp =
  (recordOf: (message: string, rest: Event) => OtlpRequest["records"][number]): Delivery =>
  (source, events) => ({
    path: "/v1/logs",
    headers: { "Content-Type": "application/x-protobuf" },
    body: asProtobuf({
      resource: { "service.name": source, "service.namespace": project },
      scope: "Logflare",
      records: events.map(({ event_message, timestamp, trace_id, ...rest }) => ({
        nanos: BigInt(`${timestamp}000`),
        traceId: trace_id as string | undefined,
        ...recordOf(`${event_message}`, rest),
      })),
    }),
  });

const json = { "Content-Type": "application/json" };

// https://supabase.com/docs/guides/telemetry/log-drains
const deliveries: Record<string, Delivery> = {
  webhook: (_source, events) => ({
    path: "/drain/supabase",
    headers: json,
    body: JSON.stringify(events),
  }),
  // By default the message is the event's name, and the body has the other members.
  otlp: otlp((eventName, rest) => ({ eventName, body: rest as { [key: string]: string } })),
  "flattened OTLP": otlp((body, rest) => ({ body, attributes: Object.fromEntries(flat(rest)) })),
};

for (const [form, deliver] of Object.entries(deliveries)) {
  Deno.test(`Supabase's ${form} drain: each event arrives once, and deliveries cause no endless loop`, async () => {
    await using database = startDatabase(({ body }) =>
      Response.json({ success: true, ingested: JSON.parse(body).p_ts.length, rejected: 0 })
    );
    const start = () => startIngest(database.url, undefined, undefined, deploymentId);
    await using one = start();
    await using other = start();
    const rounds: Event[][] = [];
    let lines = real.map(([line]) => line);
    for (let round = 0, sent = 0; round < 4; round++) {
      const before = database.requests.length;
      const next: Logged[] = [cron("call logloom_private.work('write')")];
      for (const [source, batch] of Map.groupBy(lines, ([source]) => source)) {
        const { path, headers, body } = deliver(source, batch.map(([, event]) => event));
        // Two isolates, which each learn by themselves.
        const { url } = (round + sent++) % 2 === 0 ? one : other;
        const response = await fetch(`${url}${path}`, {
          method: "POST",
          headers: { ...headers, "X-API-Key": apiKey },
          body,
        });
        await response.body?.cancel();
        assert.ok(response.ok);
        next.push(invocation(`/functions/v1/ingest${path}`, ingestId));
        next.push(functionLine("booted (time: 31ms)", ingestId));
      }
      const calls = database.requests.slice(before);
      for (const { headers } of calls) {
        next.push(request("/rest/v1/rpc/ingest_text", 200, headers.get("User-Agent") ?? ""));
      }
      rounds.push(calls.flatMap(({ body }) => eventsOf(JSON.parse(body))));
      // A log stream passes on what was stored.
      if (rounds[round].length > 0) {
        next.push(invocation("/functions/v1/logloom-stream", id(2)));
        next.push(functionLine("booted (time: 29ms)", id(2)));
      }
      if (round > 1) assert.equal(calls.length, 0);
      lines = next;
    }
    const [first, ...later] = rounds;
    assert.deepEqual(
      first.map(({ ts, attrs, ...rest }) => ({
        ...rest,
        at: Date.parse(`${ts}`) * 1000,
        sql: (attrs as Event).sql_state_code,
      })),
      real.map(([[source, { event_message: msg }], service, level, fields]) => ({
        level,
        msg,
        service: form === "webhook" ? service : source,
        at: us,
        sql: undefined,
        ...fields,
      })),
    );
    // The event is stored, because the isolate saw the function's line before a request to the function.
    assert.deepEqual(later.map((events) => events.map(({ msg }) => msg)), [
      ["booted (time: 29ms)"],
      [],
      [],
    ]);
  });
}

Deno.test("only events that Logloom's own work causes are left out", async () => {
  const stay = [
    invocation("/functions/v1/ingestion", id(3)),
    // A project may have its own function of this name, and no delivery calls it.
    invocation("/functions/v1/health", id(4)),
    invocation("/functions/v1/ingest", id(6), "another"),
    functionLine(`POST https://${project}.supabase.co/functions/v1/ingest failed`, id(5)),
    request("/ingest", 404, "curl/8.5.0"),
    request("/rest/v1/rpc/ingest_text", 401, "curl/8.5.0"),
    request("/rest/v1/rpc/orders_of", 200, "logloom/1.0.0"),
    cron("select shop.close_day()"),
    postgresLine("cron job 3 completed: 1 row", "LOG", "pg_cron launcher"),
    postgresLine("cron job 3 starting: logloom_private.", "LOG", "client backend"),
    statement("orders_of", "duration: 1201.345 ms  "),
    postgresLine(`permission denied: "public"."ingest_text"`, "ERROR", "client backend"),
  ];
  const goes = [
    invocation("/functions/v1/ingest/v1/logs", ingestId),
    invocation("/logloom-notify", id(2)),
    functionLine("booted (time: 30ms)", id(2)),
    request("/functions/v1/ingest?a=1", 200, "curl/8.5.0"),
    request("/rest/v1/rpc/ingest_text", 200, "logloom/1.0.0"),
    cron("call logloom_private.work('write')"),
    // The detail of these lines has the call's parameter: the delivered events, in which such lines may be again.
    statement("ingest_text", "duration: 1201.345 ms  "),
    statement("ingest_text"),
  ];
  const lines = [...goes, ...stay].map(([, event]) => event);
  const drain = { headers: json, body: JSON.stringify(lines), deploymentId };
  const messages = stay.map(([, { event_message }]) => event_message);
  const { events } = await receive("/drain/supabase", drain);
  assert.deepEqual(events.map(({ msg }) => msg), messages);
  const served = (name: string) => ({
    event_message: `serving the request with /home/deno/functions/${name}`,
    metadata: { project_ref: "default" },
  });
  const body = JSON.stringify([served("ingest"), served("pay")]);
  const selfHosted = await receive("/drain/supabase", { headers: json, body });
  assert.deepEqual(selfHosted.events.map(({ msg }) => msg), [served("pay").event_message]);
  // The same events at another path are stored: only the drain's path counts.
  assert.equal((await receive("", drain)).events.length, lines.length);
});

Deno.test("one sender cannot hide another's events", () => {
  const senderOf = createOwnTraffic();
  const isOwn = (key: string, [, event]: Logged) => senderOf(key).isOwn(event, event.event_message);
  assert.equal(isOwn("one", invocation("/functions/v1/ingest", id(5))), true);
  assert.equal(isOwn("one", functionLine("paid", id(5))), true);
  assert.equal(isOwn("other", functionLine("paid", id(5))), false);
});
