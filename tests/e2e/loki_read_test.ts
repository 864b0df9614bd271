import assert from "node:assert/strict";
import {
  apiKey,
  bearer,
  clientOf,
  createKey,
  ingest,
  newTenant,
  type Tenant,
} from "../support/client.ts";
import { openDatabase, recordsOf } from "../support/database.ts";
import { keyChecksum } from "../../supabase/functions/_shared/auth.ts";
import { grafanaRequests } from "../../supabase/functions/logloom-read/loki/grafana_requests.ts";
import { stack } from "../support/stack.ts";

/** A full minute, ten minutes ago. The records are in the three minutes after it. */
const base = Math.floor(Date.now() / 60_000) * 60 - 600;

function at(seconds: number): string {
  return new Date((base + seconds) * 1000).toISOString();
}

function ns(seconds: number): string {
  return `${BigInt(Math.round((base + seconds) * 1e6)) * 1000n}`;
}

const records = [
  {
    ts: at(1),
    msg: "Connection refused",
    level: "error",
    service: "api",
    host: "web-1",
    env: "prod",
    route: "/a",
    req_id: "r-1",
    status: 502,
    took: 10,
    http: { method: "GET" },
  },
  { ts: at(2), msg: "served", level: "info", service: "api", host: "web-2", took: 20 },
  { ts: at(61), msg: 'Served "x" \\ y', level: "info", service: "api", host: "web-1", took: 30 },
  { ts: at(62), msg: '{"n": 7, "who": {"name": "ann"}}', service: "worker" },
  { ts: at(121), msg: "n=8 size=5MB", level: "warn", service: "worker" },
];

interface Reader {
  readonly tenant: Tenant;
  readonly headers: Record<string, string>;
}

async function withRecords(name: string, events: readonly object[] = records): Promise<Reader> {
  const tenant = await newTenant(name);
  await ingest(tenant.headers, events);
  await using db = openDatabase();
  await recordsOf(db, tenant.id, events.length);
  const { key_value } = await createKey(tenant, { p_scopes: ["read"] });
  return { tenant, headers: { authorization: `Basic ${btoa(`grafana:${key_value}`)}` } };
}

let shared: Promise<Reader> | undefined;
/** Makes a tenant with the records above, for tests that only read. */
const sharedReader = () => shared ??= withRecords("loki");

const range = { start: ns(0), end: ns(180) };

async function ask(
  { headers }: Pick<Reader, "headers">,
  path: string,
  parameters: Record<string, string> = {},
  init: RequestInit = {},
) {
  const query = new URLSearchParams(parameters);
  const url = `${stack.url}/functions/v1/logloom-read/loki/api/v1/${path}?${query}`;
  const answer = await fetch(url, { ...init, headers: { ...headers, ...init.headers } });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type") === "application/json";
  // deno-lint-ignore no-explicit-any
  return { status: answer.status, text, body: (isJson ? JSON.parse(text) : undefined) as any };
}

/** Returns the body of an answer, which must not be refused. */
async function answerOf(
  reader: Pick<Reader, "headers">,
  path: string,
  parameters: Record<string, string> = {},
) {
  const { status, text, body } = await ask(reader, path, { ...range, ...parameters });
  assert.equal(status, 200, `${path} ${parameters.query}: ${text}`);
  return body;
}

async function linesOf(reader: Reader, query: string): Promise<string[]> {
  const body = await answerOf(reader, "query_range", { query, direction: "forward" });
  const entries = body.data.result.flatMap((stream: { values: [string, string][] }) =>
    stream.values
  ) as [string, string][];
  return entries.sort((a, b) => Number(BigInt(a[0]) - BigInt(b[0]))).map(([, line]) => line);
}

/** Returns labels, and values by seconds since the records' first minute. */
async function matrixOf(reader: Reader, query: string, step = "60s") {
  const body = await answerOf(reader, "query_range", { query, step });
  assert.equal(body.data.resultType, "matrix");
  return body.data.result.map((
    { metric, values }: { metric: Record<string, string>; values: [number, string][] },
  ) => [metric, values.map(([ts, value]) => [ts - base, value])]);
}

async function vectorOf(reader: Pick<Reader, "headers">, query: string, time = ns(180)) {
  const body = await answerOf(reader, "query", { query, time });
  return body.data.result.map((
    { metric, value }: { metric: Record<string, string>; value: [number, string] },
  ) => [metric, value[1]]);
}

Deno.test("labels stand for the attributes of the selected records, and numbers keep their text", async () => {
  const reader = await withRecords("loki-names");
  const { tenant } = reader;
  const before = at(-3 * 3600);
  await ingest(tenant.headers, [
    { ts: at(3), service: "quiet", card: { kind: "visa" } },
    { ts: at(4), service: "nginx", msg: '{"status": 500, "n": 1}' },
    { ts: at(5), service: "nginx", msg: "no status" },
    ...["GET", "PUT"].map((verb) => ({ ts: before, service: "old", req: { verb } })),
  ]);
  await ingest(
    tenant.headers,
    `{"ts": "${
      at(6)
    }", "service": "numbers", "order": 12345678901234567890, "tiny": 0.0000001, "big": 1e21}`,
  );
  // Older than the newest 5,000 records.
  await ingest(tenant.headers, [
    { ts: at(6), service: "noisy", error: { kind: "io" }, "dotted.name": 1 },
    { ts: at(6), service: "noisy", "error.kind": "io" },
    { ts: at(6), service: "noisy", error_kind: "io" },
    { ts: at(6), service: "noisy", "error-kind": "net" },
    { ts: at(6), service: "odd", "a#b": 1, msg: '{"level": "error"}' },
  ]);
  const noisy = Array.from({ length: 2750 }, () => ({ ts: at(7), service: "noisy", status: 200 }));
  for (let n = 0; n < 2; n++) {
    await ingest({ ...tenant.headers, "idempotency-key": `noisy ${n}` }, noisy);
  }
  await using db = openDatabase();
  await recordsOf(db, tenant.id, records.length + 11 + 5500);

  const countOf = async (query: string) => (await linesOf(reader, query)).length;
  assert.equal(await countOf('{service="quiet"} | card_kind="visa"'), 1);
  assert.equal(await countOf('{service="odd"} | a_b="1"'), 1);
  assert.equal(await countOf('{service="odd"} | json | level="error"'), 1);
  // Views may allow only search_logs and log_stats, or only log_stats.
  const client = clientOf(tenant.token);
  const views = await Promise.all([
    { p_name: "pages", p_operations: ["search_logs", "log_stats"] },
    { p_name: "counts", p_operations: ["log_stats"] },
  ].map(async (view) => {
    const { view_id } = await client.call("create_log_view", view);
    const { key_value } = await createKey(tenant, { p_scopes: ["read"], p_view_id: view_id });
    return { headers: apiKey(key_value) };
  }));
  for (const one of [reader, ...views]) {
    for (
      const [query, expected] of [
        ['sum(count_over_time({service="noisy"} | error_kind="io" [1h]))', [[{}, "3"]]],
        [
          'sum by (error_kind) (count_over_time({service="noisy"} | error_kind!="" [1h]))',
          [[{ error_kind: "io" }, "3"], [{ error_kind: "net" }, "1"]],
        ],
        ['sum(sum_over_time({service="noisy"} | unwrap dotted_name [1h]))', [[{}, "1"]]],
        ['max by (error_kind) (count_over_time({service="noisy"} | error_kind="net" [1h]))', [
          [{ error_kind: "net" }, "1"],
        ]],
      ] as const
    ) assert.deepEqual(await vectorOf(one, query), expected, query);
  }
  assert.deepEqual(await linesOf(reader, '{service="nginx"} | json | status >= 500'), [
    '{"status": 500, "n": 1}',
  ]);
  for (const name of ["label/card_kind", "detected_field/card_kind"]) {
    const { body } = await ask(reader, `${name}/values`, { ...range, query: '{service="quiet"}' });
    assert.deepEqual(body.data ?? body.values, ["visa"], name);
  }
  assert.deepEqual(
    await vectorOf(reader, 'sum by (req_verb) (count_over_time({service="old"}[24h]))'),
    [[{ req_verb: "GET" }, "1"], [{ req_verb: "PUT" }, "1"]],
  );
  assert.deepEqual(
    await vectorOf(reader, 'sum(count_over_time({service="nginx"} | json | unwrap n [1h]))'),
    [[{}, "1"]],
  );

  const { body } = await ask(reader, "query_range", { ...range, query: '{service="numbers"}' });
  const [{ stream }] = body.data.result;
  assert.deepEqual([stream.order, stream.tiny, stream.big], [
    "12345678901234567890",
    "0.0000001",
    "1000000000000000000000",
  ]);
  for (const name of ["order", "tiny", "big"]) {
    assert.equal(await countOf(`{service="numbers"} | ${name}="${stream[name]}"`), 1, name);
  }
});

Deno.test("Grafana reads labels, records and series of its own tenant only", async () => {
  const reader = await sharedReader();
  const other = await newTenant("loki-other");
  const { key_value } = await createKey(other, { p_scopes: ["read"] });
  const empty = await ask({ headers: apiKey(key_value) }, "query_range", {
    ...range,
    query: '{service="api"}',
  });
  assert.deepEqual(empty.body, {
    status: "success",
    data: { resultType: "streams", result: [], stats: {} },
  });

  const info = await ask(reader, "status/buildinfo");
  assert.equal(info.body.version, "3.5.0");
  assert.deepEqual((await ask(reader, "labels", range)).body, {
    status: "success",
    data: ["env", "host", "level", "route", "service", "service_name"],
  });
  const valuesOf = async (name: string, query = "") =>
    (await ask(reader, `label/${name}/values`, { ...range, query })).body.data;
  assert.deepEqual(await valuesOf("service_name"), ["api", "worker"]);
  assert.deepEqual(await valuesOf("host", '{level="error"}'), ["web-1"]);
  assert.deepEqual(await valuesOf("detected_level"), ["error", "info", "unknown", "warn"]);
  assert.deepEqual(await valuesOf("__stream_shard__"), []);
  const found = await ask(reader, "series", { ...range, "match[]": '{level="error"}' });
  assert.deepEqual(found.body.data, [{
    env: "prod",
    host: "web-1",
    level: "error",
    route: "/a",
    service: "api",
    service_name: "api",
  }]);
});

Deno.test("records come as streams, with their attributes as structured metadata", async () => {
  const reader = await sharedReader();
  const labels = {
    env: "prod",
    host: "web-1",
    level: "error",
    route: "/a",
    service: "api",
    service_name: "api",
  };
  const metadata = {
    detected_level: "error",
    req_id: "r-1",
    http_method: "GET",
    status: "502",
    took: "10",
  };
  const query = { ...range, query: '{level="error"}' };
  const plain = await ask(reader, "query_range", query);
  assert.deepEqual(plain.body.data.result, [
    { stream: { ...metadata, ...labels }, values: [[ns(1), "Connection refused"]] },
  ]);
  const flags = { headers: { "X-Loki-Response-Encoding-Flags": "categorize-labels" } };
  const apart = await ask(reader, "query_range", query, flags);
  assert.deepEqual(apart.body.data, {
    resultType: "streams",
    encodingFlags: ["categorize-labels"],
    result: [{
      stream: labels,
      values: [[ns(1), "Connection refused", { structuredMetadata: metadata }]],
    }],
    stats: {},
  });
  const newest = await ask(reader, "query_range", {
    ...range,
    query: '{service=~".+"}',
    limit: "1",
  });
  assert.deepEqual(newest.body.data.result[0].values, [[ns(121), "n=8 size=5MB"]]);
  // A form, and times in seconds and in RFC 3339.
  for (const [start, end] of [[`${base}`, `${base + 2}`], [at(0), at(2)]]) {
    const form = await ask(reader, "query_range", {}, {
      method: "POST",
      body: new URLSearchParams({ query: '{service="api"}', start, end }),
    });
    assert.deepEqual(form.body.data.result[0].values, [[ns(1), "Connection refused"]]);
  }
});

Deno.test("selectors, line filters and label filters find the same as in Loki", async () => {
  const reader = await sharedReader();
  const [refused, served, quoted, json, logfmt] = records.map(({ msg }) => msg);
  const cases: [string, string[]][] = [
    ['{service="api"}', [refused, served, quoted]],
    ['{service!="api"}', [json, logfmt]],
    ['{host=~"web-."}', [refused, served, quoted]],
    // A selector compares the whole value of a label.
    ['{host=~"web"}', []],
    ['{host=~"web-1|web-2"}', [refused, served, quoted]],
    ['{host!~"web-1", service="api"}', [served]],
    ['{host="", service=~".+"}', [json, logfmt]],
    ['{host!="", env=""}', [served, quoted]],
    ['{level="", service=~".+"}', [json]],
    ['{service=~".+"} | detected_level="unknown"', [json]],
    ['{service=~".+"} |= "erved"', [served, quoted]],
    // Letter case counts, unless it says (?i).
    ['{service=~".+"} |= "Served"', [quoted]],
    ['{service=~".+"} |~ "(?i)^served"', [served, quoted]],
    ['{service=~".+"} |= "Served" or "refused"', [refused, quoted]],
    ['{service=~".+"} != "erved" != "n"', []],
    ['{service="api"} !~ "^[CS]"', [served]],
    ['{service="api"} |= `"x" \\ y`', [quoted]],
    ['{service="api"} |= "\\"x\\" \\\\ y"', [quoted]],
    ['{service="api"} |> "<_> refused"', [refused]],
    ['{service=~".+"} | http_method="GET"', [refused]],
    ['{service=~".+"} | took > 10 and took <= 30', [served, quoted]],
    ['{service=~".+"} | took = 20 or status = 502', [refused, served]],
    ['{service=~".+"} | json | n = 7', [json]],
    ['{service=~".+"} | json | who_name="ann"', [json]],
    ['{service="worker"} | logfmt | level=""', [json]],
    ['{service=~".+"} | json name="who.name" | name="ann"', [json]],
    ['{service=~".+"} | logfmt | size > 4MB', [logfmt]],
    ['{service="worker"} | json | logfmt | drop __error__, __error_details__', [json, logfmt]],
    ['{service="worker"} | logfmt | __error__="" | decolorize', [json, logfmt]],
    ['{service="\\" OR level:* OR \\""}', []],
  ];
  for (const [query, lines] of cases) {
    assert.deepEqual(await linesOf(reader, query), lines, query);
  }
});

Deno.test("a label's value may have any character, and a range includes its first instant, not its last", async () => {
  const services = [
    'we"ird\\ va*lue?',
    "(a|b) OR level:error",
    "two\nlines\ttab",
    " blank ",
    "💡 %_'--",
    "-",
    "{x}",
    "a, b",
  ];
  const reader = await withRecords(
    "loki-values",
    services.map((service, n) => ({ ts: at(n), msg: `m${n}`, service, attrs: { own: service } })),
  );
  const found = await ask(reader, "label/service/values", range);
  const names: string[] = found.body.data;
  assert.equal(names.length, services.length);
  for (const [n, service] of services.entries()) {
    const literal = JSON.stringify(service);
    const pattern = JSON.stringify(service.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
    assert.ok(names.includes(service), service);
    for (
      const query of [
        `{service=${literal}}`,
        `{service=~${pattern}}`,
        `{service=~".+"} | own=${literal}`,
        `{service=~".+"} | own=~${pattern}`,
        `{service_name=${literal}, service!~"x.*"}`,
      ]
    ) {
      assert.deepEqual(await linesOf(reader, query), [`m${n}`], query);
    }
  }
  const lines = async (start: string, end: string) => {
    const { body } = await ask(reader, "query_range", { query: '{service=~".+"}', start, end });
    return body.data.result.flatMap(({ values }: { values: [string, string][] }) =>
      values.map(([, line]) => line)
    ).sort();
  };
  assert.deepEqual(await lines(ns(1), ns(3)), ["m1", "m2"]);
  assert.deepEqual(await lines(`${BigInt(ns(1)) + 1n}`, `${BigInt(ns(3)) + 1n}`), ["m2", "m3"]);
  assert.deepEqual(await lines(`${base + 1}.000001`, `${base + 3}.000001`), ["m2", "m3"]);
});

Deno.test("metrics over time and at once have exact values", async () => {
  const reader = await sharedReader();
  const overTime: [string, unknown][] = [
    ['sum by (level, detected_level) (count_over_time({service="api"}[1m]))', [
      [{ level: "info", detected_level: "info" }, [[60, "1"], [120, "1"]]],
      [{ level: "error", detected_level: "error" }, [[60, "1"]]],
    ]],
    ['sum(count_over_time({service=~".+"}[2m]))', [[{}, [[60, "2"], [120, "4"], [180, "3"]]]]],
    ['sum(rate({service=~".+"}[1m])) * 60', [[{}, [[60, "2"], [120, "2"], [180, "1"]]]]],
    ['quantile_over_time(0.5, {service="api"} | unwrap took [1m]) by (service)', [
      [{ service: "api" }, [[60, "15"], [120, "30"]]],
    ]],
    ['sum(sum_over_time({service="api"} | unwrap took | __error__="" [1m]))', [
      [{}, [[60, "30"], [120, "30"]]],
    ]],
  ];
  for (const [query, expected] of overTime) {
    assert.deepEqual(await matrixOf(reader, query), expected, query);
  }
  const three = "[3m]";
  const cases: [string, unknown][] = [
    [`sum by (service_name) (count_over_time({service=~".+"}${three}))`, [
      [{ service_name: "api" }, "3"],
      [{ service_name: "worker" }, "2"],
    ]],
    [`count_over_time({level="error"}${three})`, [
      [{ env: "prod", host: "web-1", level: "error", route: "/a", service: "api" }, "1"],
    ]],
    [`topk(1, sum by (service) (count_over_time({service=~".+"}${three})))`, [
      [{ service: "api" }, "3"],
    ]],
    [`count(count_over_time({service="api"}${three}))`, [[{}, "3"]]],
    [`max(count_over_time({service="worker"}${three})) + 1`, [[{}, "2"]]],
    [`min(min_over_time({service="api"} | unwrap took ${three}))`, [[{}, "10"]]],
    [`max(max_over_time({service="api"} | unwrap took ${three}))`, [[{}, "30"]]],
    [`avg_over_time({service="api"} | unwrap took ${three}) by ()`, [[{}, "20"]]],
    [`sum by (n) (count_over_time({service="worker"} | json | n=7 ${three}))`, [[{ n: "7" }, "1"]]],
    [
      `sum(count_over_time({level="error"}${three})) / sum(count_over_time({service="api"}${three}))`,
      [[{}, "0.3333333333333333"]],
    ],
    [`2 + 3 * sum(count_over_time({level="error"}${three})) - 1`, [[{}, "4"]]],
    [`sum(count_over_time({level="error"}${three})) > 1`, []],
    ["vector(1)+vector(1)", [[{}, "2"]]],
  ];
  for (const [query, expected] of cases) {
    assert.deepEqual(await vectorOf(reader, query), expected, query);
  }
});

Deno.test("the metrics of dashboards have exact values", async () => {
  const reader = await withRecords("loki-dashboards");
  await ingest(reader.tenant.headers, [
    { ts: at(5), service: "texts", msg: "ab", took: "1500ms", size: "2KB" },
    { ts: at(65), service: "texts", msg: "é", took: "2m", size: "1,300" },
  ]);
  await using db = openDatabase();
  await recordsOf(db, reader.tenant.id, records.length + 2);
  const api = '{service="api"}';
  const texts = '{service="texts"}';
  const cases: [string, unknown][] = [
    [`sum(count_over_time(${api}[1m])) or vector(0)`, [
      [{}, [[0, "0"], [60, "2"], [120, "1"], [180, "0"]]],
    ]],
    [`quantile_over_time(0.5, ${api} | unwrap took [2m]) by (service)`, [
      [{ service: "api" }, [[60, "15"], [120, "20"], [180, "30"]]],
    ]],
    [`avg_over_time(${api} | unwrap took [2m]) by ()`, [
      [{}, [[60, "15"], [120, "20"], [180, "30"]]],
    ]],
    [`sum(bytes_over_time(${texts}[1m]))`, [[{}, [[60, "2"], [120, "2"]]]]],
    [`sum by (service) (sum_over_time(${texts} | unwrap duration(took) [1m]))`, [
      [{ service: "texts" }, [[60, "1.5"], [120, "120"]]],
    ]],
    [`max_over_time(${texts} | unwrap bytes(size) [1m]) by ()`, [
      [{}, [[60, "2000"], [120, "1300"]]],
    ]],
    [`last_over_time(${api} | unwrap took [2m]) by ()`, [
      [{}, [[60, "20"], [120, "30"], [180, "30"]]],
    ]],
    [`first_over_time(${api} | unwrap took [2m]) by ()`, [
      [{}, [[60, "10"], [120, "10"], [180, "30"]]],
    ]],
    [`stddev_over_time(${api} | unwrap took [1m]) by ()`, [[{}, [[60, "5"], [120, "0"]]]]],
    [`absent_over_time({service="api", host=~".+"}[1m])`, [
      [{ service: "api" }, [[0, "1"], [180, "1"]]],
    ]],
    [`sum(count_over_time(${api}[1m])) > bool 1`, [[{}, [[60, "1"], [120, "0"]]]]],
    [
      `sum by (service, host) (count_over_time(${api}[3m])) / on (host) ` +
      `sum by (host) (count_over_time(${api}[3m]))`,
      ["web-1", "web-2"].map((host) => [{ host }, [[60, "1"], [120, "1"], [180, "1"]]]),
    ],
    [
      `sum by (service) (count_over_time({service=~".+"}[1m])) unless ` +
      `sum by (service) (count_over_time(${api}[1m]))`,
      [
        [{ service: "texts" }, [[60, "1"], [120, "1"]]],
        [{ service: "worker" }, [[120, "1"], [180, "1"]]],
      ],
    ],
    [
      `label_replace(sum by (host) (count_over_time({host="web-2"}[1m])), "n", "$1", "host", "web-(.*)")`,
      [[{ host: "web-2", n: "2" }, [[60, "1"]]]],
    ],
    [
      `sum by (verb) (count_over_time(${api} | label_format verb="{{.http_method | lower}}" | verb="get" [1m]))`,
      [[{ verb: "get" }, [[60, "1"]]]],
    ],
    [`sum(count_over_time({service="worker"} | json | __error__="" [1m]))`, [[{}, [[120, "1"]]]]],
    [`sum(count_over_time({service="worker"} | json | __error__!="" [1m]))`, [[{}, [[180, "1"]]]]],
  ];
  for (const [query, expected] of cases) {
    const found = await matrixOf(reader, query);
    found.sort((a: unknown[], b: unknown[]) =>
      JSON.stringify(a[0]) < JSON.stringify(b[0]) ? -1 : 1
    );
    assert.deepEqual(found, expected, query);
  }
  assert.deepEqual(
    await vectorOf(reader, 'sort_desc(sum by (service) (count_over_time({service=~".+"}[3m])))')
      .then((found) => found.map(([{ service }]: [Record<string, string>]) => service)[0]),
    "api",
  );
  const none = 'sum(sum_over_time({service="worker"} | unwrap took [3m]))';
  assert.deepEqual(await vectorOf(reader, none), []);
  assert.deepEqual(await vectorOf(reader, "vector(1) / vector(0)"), [[{}, "NaN"]]);
});

Deno.test("line_format, label_format, json and __error__ work as in Loki", async () => {
  const reader = await sharedReader();
  const streamOf = async (query: string) =>
    (await answerOf(reader, "query_range", { query })).data.result;
  assert.deepEqual(
    await linesOf(reader, '{service="api"} | line_format "{{.host}}: {{__line__ | upper}}" |= "2"'),
    ["web-2: SERVED"],
  );
  const [renamed] = await streamOf(
    '{level="error"} | label_format verb=http_method, at="{{.route}}!" | keep verb, at',
  );
  assert.deepEqual(renamed.stream, { verb: "GET", at: "/a!" });
  const parsed = await streamOf('{service="worker"} | json');
  assert.deepEqual(
    parsed.map(({ stream }: { stream: Record<string, string> }) => [
      stream.n,
      stream.who_name,
      stream.__error__,
    ]),
    [[undefined, undefined, "JSONParserErr"], ["7", "ann", undefined]],
  );
  const [filtered] = await streamOf('{service="worker"} | json | n = 7');
  assert.deepEqual(filtered.stream, {
    detected_level: "unknown",
    service: "worker",
    service_name: "worker",
    n: "7",
    who_name: "ann",
  });
  const [json, logfmt] = [records[3].msg, records[4].msg];
  const cases: [string, string[]][] = [
    ['{service="worker"} | json | __error__=""', [json]],
    ['{service="worker"} | json | __error__="JSONParserErr"', [logfmt]],
    ['{service="worker"} | json | __error__!=""', [logfmt]],
    ['{service="worker"} | json | __error__=~".+"', [logfmt]],
    ['{service="worker"} | json | drop __error__ | __error__=""', [json, logfmt]],
    ['{service="api"} | drop host | host="web-1"', []],
    ['{service="worker"} | drop level | level=""', [json, logfmt]],
  ];
  for (const [query, lines] of cases) assert.deepEqual(await linesOf(reader, query), lines, query);
  const { fields } = await answerOf(reader, "detected_fields", {
    query: '{service="worker"} | json',
  });
  assert.deepEqual(
    fields.filter(({ parsers }: { parsers: unknown }) => parsers !== null),
    [
      { label: "n", type: "int", cardinality: 2, parsers: ["logfmt"] },
      { label: "size", type: "string", cardinality: 1, parsers: ["logfmt"] },
      { label: "who_name", type: "string", cardinality: 1, parsers: ["json"] },
    ],
  );
});

Deno.test("records and lines may have the same labels", async () => {
  const attrs = { code: 200, took: "2h", http: { verb: "GET" } };
  const inLine = JSON.stringify({ code: "500", user: { id: 7 }, host: "line", n: 1.0, list: [1] });
  const events = [
    { msg: inLine, ...attrs },
    { msg: inLine, took: "90" },
    { msg: "code=404 http_verb=PUT x.y=5 took=8" },
    { msg: "no pairs", code: "oops", n: " 5 " },
    { msg: "a=1", n: "0x10" },
  ].map((event, n) => ({ ts: at(n), service: "both", ...event }));
  const reader = await withRecords("loki-both", events);
  const [first, , pairs, plain] = events.map(({ msg }) => msg);
  for (
    const [query, expected] of [
      ["| json | code=500", [first]],
      ['| json c="code" | c="500"', [first, first]],
      ['| json code="code" | code=500', [first]],
      ['| json | user_id="7"', [first, first]],
      ['| logfmt | http_verb=~".+"', [first, pairs]],
      ["| label_format c=code | c!=200", [plain]],
      ["| regexp `took=(?P<ms>[0-9]+)` | ms > 5", [pairs]],
      ["| regexp `(?i)TOOK=(?P<ms>.*?)[0-9]?$` | ms=``", events.map(({ msg }) => msg)],
      ["| pattern `code=<status> <_>` | status=~`4..`", [pairs]],
      ['| logfmt took="took" | code=~".+"', [first, plain]],
    ] as const
  ) {
    assert.deepEqual(await linesOf(reader, `{service="both"} ${query}`), expected, query);
  }
  const { data } = await answerOf(reader, "query_range", {
    query: '{service="both"} | took="90" | json c="code" | c!=""',
  });
  assert.deepEqual(data.result[0].stream, {
    c: "500",
    detected_level: "unknown",
    service: "both",
    service_name: "both",
    took: "90",
  });
  for (
    const [query, expected] of [
      ["sum(max_over_time(# | unwrap took [1h]))", [[{}, "90"]]],
      ["sum(max_over_time(# | logfmt | unwrap took [1h]))", [[{}, "90"]]],
      ["sum(sum_over_time(# | logfmt | unwrap x_y [1h]))", [[{}, "5"]]],
      ["sum(last_over_time(# | unwrap n [1h]))", []],
      ["sum by (verb) (count_over_time(# | regexp `verb=(?P<verb>[A-Z]+)` [1h]))", [
        [{ verb: "PUT" }, "1"],
        [{}, "4"],
      ]],
      ["sum(max_over_time(# | pattern `<_> took=<ms>` | unwrap ms [1h]))", [[{}, "8"]]],
      ['sum by (code) (count_over_time(# | logfmt t="took" | t="8" [1h]))', [[{}, "1"]]],
      ["sum by (http_verb) (count_over_time(# | logfmt | http_verb!=`` [1h]))", [
        [{ http_verb: "GET" }, "1"],
        [{ http_verb: "PUT" }, "1"],
      ]],
      ["sum by (code) (count_over_time(# | json | logfmt | code>0 [1h]))", [
        [{ code: "200" }, "1"],
        [{ code: "404" }, "1"],
        [{ code: "500" }, "1"],
      ]],
    ] as const
  ) {
    const answered = await vectorOf(reader, query.replace("#", '{service="both"}'));
    assert.deepEqual(answered.sort(), expected, query);
  }
  const match = await answerOf(reader, "series", { match: '{host="line"}' });
  assert.deepEqual(match.data, []);
});

Deno.test("the values of a field that only lines have are read from the lines", async () => {
  const reader = await sharedReader();
  const valuesOf = async (name: string, query: string) =>
    (await answerOf(reader, `detected_field/${name}/values`, { query })).values;
  assert.deepEqual(await valuesOf("n", '{service="worker"}'), ["7", "8"]);
  assert.deepEqual(await valuesOf("n", '{service="worker"} | json | logfmt'), ["7", "8"]);
  assert.deepEqual(await valuesOf("who_name", '{service="worker"} | json'), ["ann"]);
  assert.deepEqual(await valuesOf("nothing", '{service="worker"} | json'), []);
});

Deno.test("sizes are compared with numbers and with texts", async () => {
  const reader = await withRecords("loki-sizes", [
    { ts: at(1), msg: "number", service: "s", size: 2_000_000 },
    { ts: at(2), msg: "text", service: "s", size: "3 MB" },
    { ts: at(3), msg: "small", service: "s", size: 999 },
    { ts: at(4), msg: "none", service: "s" },
  ]);
  const cases: [string, string[]][] = [
    ["size > 1MB", ["number", "text"]],
    ["size <= 1KB", ["small"]],
    ["size = 2MB", ["number"]],
    ["size != 2MB", ["text", "small"]],
    ["size >= 1MiB and size < 3MB", ["number"]],
  ];
  for (const [filter, lines] of cases) {
    assert.deepEqual(await linesOf(reader, `{service="s"} | ${filter}`), lines, filter);
  }
});

Deno.test("a cut answer has a warning, and calculations use all series", async () => {
  // The 30th host has the most records in the second minute, but few in total.
  const many = Array.from({ length: 30 }, (_, n) =>
    (n === 29 ? [1, 61, 61] : [1, 1, 1, 1])
      .map((second) => ({ ts: at(second), service: "s", host: `h${n}` }))).flat();
  const hosts = Array.from(
    { length: 1010 },
    (_, n) => ({ ts: at(2), service: "u", host: `u${n}` }),
  );
  const reader = await withRecords("loki-cuts", [...many, ...hosts]);
  const query = 'sum by (host) (count_over_time({service="s"}[1m]))';
  const found = await matrixOf(reader, `topk(1, ${query})`);
  assert.deepEqual(
    found.find(([{ host }]: [{ host: string }]) => host === "h29"),
    [{ host: "h29" }, [[120, "2"]]],
  );
  assert.deepEqual(await matrixOf(reader, `count(${query})`), [[{}, [[60, "30"], [120, "1"]]]]);
  const shown = await answerOf(reader, "query_range", { query, step: "60s" });
  assert.deepEqual([shown.data.result.length, shown.warnings?.length], [20, 1]);
  for (
    const [path, parameters] of [
      ["series", { "match[]": '{service="u"}' }],
      ["label/host/values", {}],
      ["detected_field/host/values", { query: '{service="u"}' }],
    ] as const
  ) {
    const body = await answerOf(reader, path, parameters);
    assert.match(body.warnings?.[0] ?? "", /^Only 1000 of 10\d\d /, path);
  }
  const { detectedLabels } = await answerOf(reader, "detected_labels");
  assert.equal(
    detectedLabels.find(({ label }: { label: string }) => label === "host").cardinality,
    1040,
  );
  const { data } = await answerOf(reader, "index/volume", {
    query: '{service="s"}',
    aggregateBy: "labels",
  });
  assert.deepEqual(
    data.result.map(({ metric, value }: { metric: object; value: string[] }) => [metric, value[1]]),
    [[{ host: "" }, `${many.length}`], [{ service: "" }, `${many.length}`]],
  );
});

Deno.test("unsupported queries are refused with a status and a text", async () => {
  const reader = await sharedReader();
  const cases: [string, number, RegExp][] = [
    ['{service="api"', 400, /^parse error at line 1, col 15: syntax error/],
    ["", 400, /^parse error/],
    ['{service="api"} | line_format "{{range .x}}"', 400, /line_format.*is not supported/],
    ['{service="api"} | regexp "(.)"', 400, /regexp: at least one named capture/],
    ['rate_counter({service="api"} | unwrap took [1m])', 400, /rate_counter is not supported/],
    ['{service=~"(a)\\\\1"}', 400, /back-references are not allowed|not understood/],
    ['{service="api"} |~ "a{101}"', 400, /Regular expression/],
  ];
  for (const [query, status, words] of cases) {
    const answer = await ask(reader, "query_range", { ...range, query, step: "60" });
    assert.equal(answer.status, status, `${query}: ${answer.text}`);
    assert.match(answer.text, words);
  }
  const past = await ask(reader, "query_range", { query: "{}", start: ns(1), end: ns(0) });
  assert.equal(past.status, 400);
  const logs = await ask(reader, "query", { query: '{service="api"}' });
  assert.match(logs.text, /^log queries are not supported as an instant query type/);
  const tail = await ask(reader, "tail");
  assert.deepEqual([tail.status, /tail is not supported/.test(tail.text)], [501, true]);
  assert.equal((await ask(reader, "rules")).status, 404);
  const nobody = await ask({ headers: {} }, "labels");
  assert.deepEqual([nobody.status, nobody.body], [401, undefined]);
  assert.equal((await ask({ headers: bearer("ll_x") }, "labels")).status, 401);
  const sends = await createKey(reader.tenant);
  assert.equal((await ask({ headers: apiKey(sends.key_value) }, "labels")).status, 403);
});

Deno.test("Save & test checks the key, and so do all endpoints that read no records", async () => {
  const tenant = await newTenant("loki-health");
  const client = clientOf(tenant.token);
  const { view_id } = await client.call("create_log_view", {
    p_name: "pages",
    p_operations: ["search_logs"],
  });
  const [reads, inView, revoked, sends] = await Promise.all([
    createKey(tenant, { p_scopes: ["read"] }),
    createKey(tenant, { p_scopes: ["read"], p_view_id: view_id }),
    createKey(tenant, { p_scopes: ["read"] }),
    createKey(tenant),
  ]);
  await client.call("revoke_api_key", { p_key_id: revoked.key_id });
  const unsigned = `ll_${"A".repeat(30)}`;
  const keys = {
    [reads.key_value]: 200,
    [inView.key_value]: 200,
    [revoked.key_value]: 401,
    [sends.key_value]: 403,
    [`${unsigned}${keyChecksum(unsigned)}`]: 401,
  };
  const query = "vector(1)+vector(1)";
  for (const [key, expected] of Object.entries(keys)) {
    for (const path of ["query", "format_query", "status/buildinfo", "drilldown-limits"]) {
      const { status, text } = await ask({ headers: apiKey(key) }, path, { query });
      assert.equal(status, expected, `${path}: ${text}`);
    }
  }
});

Deno.test("Grafana's other requests are answered: fields, volumes, patterns, limits", async () => {
  const reader = await sharedReader();
  const get = (path: string, parameters: Record<string, string> = {}) =>
    answerOf(reader, path, parameters);
  assert.deepEqual((await get("detected_labels")).detectedLabels, [
    { label: "env", cardinality: 1 },
    { label: "host", cardinality: 2 },
    { label: "level", cardinality: 3 },
    { label: "route", cardinality: 1 },
    { label: "service", cardinality: 2 },
    { label: "service_name", cardinality: 2 },
  ]);
  const { fields } = await get("detected_fields", { query: '{service="api"}' });
  assert.deepEqual(fields, [
    { label: "detected_level", type: "string", cardinality: 2, parsers: null },
    { label: "took", type: "int", cardinality: 3, parsers: null },
    { label: "http_method", type: "string", cardinality: 1, parsers: null },
    { label: "status", type: "int", cardinality: 1, parsers: null },
    { label: "req_id", type: "string", cardinality: 1, parsers: null },
  ]);
  assert.deepEqual(
    await get("detected_field/http_method/values", { query: '{service="api"}', limit: "10" }),
    { values: ["GET"], limit: 10 },
  );
  assert.deepEqual(await get("index/stats", { query: '{service="api"}' }), {
    streams: 0,
    chunks: 0,
    entries: 3,
    bytes: 0,
  });
  const volume = await get("index/volume", { query: '{service_name=~".+"}', limit: "5000" });
  assert.deepEqual(volume.data.result, [
    { metric: { service_name: "api" }, value: [base + 180, "3"] },
    { metric: { service_name: "worker" }, value: [base + 180, "2"] },
  ]);
  const overTime = await get("index/volume_range", {
    query: '{service=~".+"}',
    targetLabels: "level",
    step: "180",
  });
  assert.equal(overTime.data.resultType, "matrix");
  const patterns = await get("patterns", { query: '{service="api"}' });
  assert.ok(
    patterns.data.some(({ pattern, samples }: Record<string, unknown>) =>
      pattern === "served" && JSON.stringify(samples) === JSON.stringify([[base + 2, 1]])
    ),
  );
  assert.equal((await get("drilldown-limits")).limits.max_entries_limit_per_query, 5000);
});

Deno.test("nothing that Grafana sends by itself is refused", async () => {
  const reader = await sharedReader();
  for (const { source, path, parameters } of grafanaRequests) {
    const { status, text } = await ask(reader, path, parameters);
    assert.equal(status, 200, `${source}: ${path} ${parameters.query}: ${text}`);
  }
});

Deno.test("each query of the dashboard and of the guide is answered", async () => {
  const reader = await sharedReader();
  const { panels } = JSON.parse(await Deno.readTextFile("examples/grafana/logloom.json"));
  const guide = await Deno.readTextFile("docs/guides/grafana.md");
  const [, examples] = /```\n(\{service[^`]+)```/.exec(guide) ?? [];
  const queries: [string, string][] = [
    ...panels.flatMap(({ targets }: { targets: { queryType: string; expr: string }[] }) =>
      targets.map(({ queryType, expr }) => [queryType, expr])
    ),
    ...examples.trim().split("\n").map((line) => ["range", line]),
  ];
  assert.equal(queries.length, 8);
  for (const [kind, expression] of queries) {
    const query = expression.replace(/\$(service|env)/g, ".*")
      .replaceAll("$__auto", "60s").replaceAll("$__range", "180s");
    const { status, text } = kind === "instant"
      ? await ask(reader, "query", { query, time: range.end })
      : await ask(reader, "query_range", { ...range, query, step: "60000ms" });
    assert.equal(status, 200, `${query}: ${text}`);
  }
});
