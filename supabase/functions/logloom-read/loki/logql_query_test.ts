import assert from "node:assert/strict";
import { grafanaRequests } from "./grafana_requests.ts";
import { answers, asked, hour, lookUp, translated } from "./testing_requests.ts";

Deno.test("a LogQL query becomes one of ours, with all values in quotes", async () => {
  const fifty = Array.from({ length: 50 }, (_, n) => `${n}`);
  const cases: [string, ...string[]][] = [
    ['{level="error"}', "search_logs level:error"],
    ['{service_name="api", env!=""}', 'search_logs service:"api" env:* -env:""'],
    ['{service="a\\"b\\\\"} # words', 'search_logs service:"a\\"b\\\\"'],
    ['{host=~"web-.*"}', 'search_logs host:~"^(?:web-.*)$"'],
    ['{host=~"(?i)web"}', 'search_logs host:~"(?i)^(?:web)$"'],
    ['{host!~"a|b\\\\.c"}', 'search_logs -(host:("a" OR "b.c"))'],
    ['{host=~"a*"}', 'search_logs (host:~"^(?:a*)$" OR -host:*)'],
    ['{host=~".*"}', "search_logs *"],
    ['{level=~"error|warn"}', "search_logs level:(warn OR error)"],
    ['{level="", service="x"}', 'search_logs -level:* service:"x"'],
    ['{level="fatal"}', "search_logs -ts:*"],
    ['{env="p"} | detected_level != ""', 'search_logs env:"p"'],
    ['{env="p"} | detected_level="unknown"', 'search_logs env:"p" -level:*'],
    ['{env="p"} |= "a" or "1" != `b`', 'search_logs env:"p" (msg:~"a" OR msg:"1") -msg:~"b"'],
    ['{env="p"} |~ "x\\"y" !~ `\\"`', 'search_logs env:"p" msg:~"x\\"y" -msg:~"\\""'],
    ['{env="p"} | json | logfmt | drop __error__', 'search_logs env:"p"'],
    ['{env="p"} | json | n > 5', 'search_logs env:"p" | json msg | where attrs.n:>5'],
    // An attribute of records needs no parsing.
    [
      '{env="p"} | json | status >= 500',
      'search_logs env:"p" (attrs.status:>=500 OR -attrs.status:*) | json msg | where attrs.status:>=500',
    ],
    // A nested member, and a member that is also a field of records.
    [
      '{env="p"} | json | a_b="1"',
      'search_logs env:"p" | json msg | where (attrs.a_b:"1" OR attrs.a.b:"1" OR attrs.a-b:"1")',
    ],
    [
      '{env="p"} | json | a_b!="1"',
      'search_logs env:"p" | json msg | where -attrs.a_b:"1" -attrs.a.b:"1" -attrs.a-b:"1"',
    ],
    [
      '{env="p"} | logfmt | level="error"',
      'search_logs env:"p" ((((level:* level:error) OR (-level:* attrs.level:"error"))) OR -level:*) | ' +
      'logfmt msg | where ((level:* level:error) OR (-level:* attrs.level:"error"))',
    ],
    ['{env="p"} | logfmt | host="a"', 'search_logs env:"p" host:"a"'],
    // Many values twice would exceed the limit of a query.
    [
      `{env="p"} | json | status=~"${fifty.join("|")}"`,
      `search_logs env:"p" | json msg | where attrs.status:("${fifty.join('" OR "')}")`,
    ],
    // Only what PostgreSQL finds as Go does is extracted there.
    [
      '{env="p"} | regexp `took (?P<ms>\\d+?)ms (?P<rest>.*)` | ms > 5',
      'search_logs env:"p" | extract_regexp "took (?P<ms>[0-9]+)ms (?P<rest>[^\n]*)" | where attrs.ms:>5',
    ],
    [
      'sum by (code) (rate({env="p"} | pattern "<_> <code> <_>" [5m]))',
      'log_series env:"p" | extract_regexp "^[^ ]*(?: (?P<code>[^ ]*)(?: .*)?)?" | ' +
      "count() by (60s), attrs.code",
    ],
    ['sum by (code) (rate({env="p"} | pattern "<_>: <code> <_>" [5m]))', 'search_logs env:"p"'],
    ['{env="p"} | regexp "(?P<n>.*)[0-9]" | n=~"a.*"', 'search_logs env:"p"'],
    ['{env="p"} | regexp "(?P<n>[0-9]+)" | json | n="1"', 'search_logs env:"p"'],
    ['{env="p"} | regexp "a(b)"', "400 regexp: at least one named capture must be supplied"],
    ['{env="p"} | pattern "a <_>"', '400 pattern "a <_>": at least one capture is required'],
    ['{env="p"} | pattern "<a><b>"', '400 pattern "<a><b>": found consecutive captures'],
    ['{env="p"} | http_method="GET"', 'search_logs env:"p" attrs.http.method:"GET"'],
    [
      '{env="p"} | a="1" or b="2" and c="3"',
      'search_logs env:"p" (attrs.a:"1" OR (attrs.b:"2" attrs.c:"3"))',
    ],
    [
      '{env="p"} | (a="1" or b="2"), c="3"',
      'search_logs env:"p" (attrs.a:"1" OR attrs.b:"2") attrs.c:"3"',
    ],
    ['{env="p"} | a=ip("10.0.0.0/8")', 'search_logs env:"p" attrs.a:10.0.0.0/8'],
    ['sum by (level) (rate({env="p"}[5m]))', 'log_series env:"p" | count() by (60s), level'],
    [
      'sum(sum_over_time({env="p"} | unwrap took [1m]))',
      'log_stats env:"p" attrs.took:[* TO *] | sum(attrs.took) by (60s)',
    ],
    ['{env="p"} | size > 1.5MB', 'search_logs env:"p" (attrs.size:>1.5MB OR attrs.size:>1500000)'],
    ['{env="p"} | drop host | host="a"', "search_logs -ts:*"],
    ['{env="p"} | drop host | host!="a"', 'search_logs env:"p"'],
    ['{env="p"} | keep host | took > 5', "search_logs -ts:*"],
    [
      'sum by (host, level) (count_over_time({env="p"} | drop host [1m]))',
      'log_series env:"p" | count() by (60s), level',
    ],
    [
      'sum by (host) (sum by (level) (count_over_time({env="p"}[1m])))',
      'log_series env:"p" | count() by (60s)',
    ],
    ['{env="p"} | took=ip("10.0.0.0/8")', 'search_logs env:"p" attrs.took:10.0.0.0/8'],
    [
      '{env="p"} | took!=ip("10.0.0.1")',
      'search_logs env:"p" attrs.took:* -attrs.took:10.0.0.1/32',
    ],
    [
      'quantile_over_time(0.99, {env="p"} | unwrap took [1m]) by (host)',
      'log_series env:"p" attrs.took:[* TO *] | p99(attrs.took) by (60s), host',
    ],
    [
      'topk(3, sum without (host, env, route) (count_over_time({env="p"}[1m]))) / 2',
      'log_series env:"p" | count() by (60s), level, service',
    ],
    // The outer aggregation gets its labels.
    [
      'max by (http_method) (count_over_time({env="p"}[1m]))',
      'log_series env:"p" | count() by (60s), env, host, level, route, service, attrs.http.method',
    ],
    [
      'label_replace(rate({env="p"}[1m]), "m", "$1", "http_method", "(.*)") / 2',
      'log_series env:"p" | count() by (60s), env, host, level, route, service, attrs.http.method',
    ],
    [
      'rate({env="p"}[1m]) > on (status) vector(1)',
      'log_series env:"p" | count() by (60s), env, host, level, route, service, attrs.status',
    ],
    ['{a="b"', "400 parse error at line 1, col 7: syntax error: unexpected end"],
    [
      '{a="b"} | line_format "{{if .x}}"',
      "400 | line_format: {{if .x}} is not supported: only {{.name}}, {{__line__}} and " +
      "upper, ToUpper, lower, ToLower, trim, TrimSpace are",
    ],
    [
      '{a="b"} | unpack',
      "400 | unpack is not supported: only json, logfmt, pattern and regexp are",
    ],
    [
      '{a="b"} | label_format x="{{"',
      "400 | label_format: {{ is not supported: only {{.name}}, {{__line__}} and " +
      "upper, ToUpper, lower, ToLower, trim, TrimSpace are",
    ],
    ['{a="b"} |> "<verb> x"', "400 <verb> in a line filter: only <_> is allowed there"],
    ['{a="b"} | json | n > 0x10', "400 label filter n > 0x10: 0x10 is not a number"],
    [
      '{a="b"} | json | a_extracted="x"',
      "400 a_extracted: a parsed member with the name of a label is not supported",
    ],
    ['topk(1.5, rate({a="b"}[1m]))', "400 topk: a whole number above 0 is needed"],
    ['sum_over_time(5, {a="b"} | unwrap c [1m])', "400 sum_over_time: no number is needed"],
    ['absent_over_time({a="b"}[1m]) by (a)', "400 absent_over_time takes no grouping"],
    ['rate_counter({a="b"} | unwrap c [1m])', "400 rate_counter is not supported"],
    ['stddev_over_time({a="b"}[1m])', "400 stddev_over_time is not supported without unwrap"],
    ['sum(rate({a="b"}[1m])) and 1', "400 and needs series on both sides"],
    ['sum(rate({a="b"}[1m])) / on (x) group_left () vector(1)', "400 group_left is not supported"],
  ];
  for (const [query, ...expected] of cases) {
    assert.deepEqual(await translated(query), expected, query);
  }
});

Deno.test("numbers are compared like Loki's, and rounding gives a warning", async () => {
  const cases = [["7 == 7", "1"], ["7 != 2", "1"], ["2 >= 7", "0"], ["7 > bool 2", "1"]];
  for (const [query, expected] of cases) {
    const { data } = JSON.parse((await asked("query", { query })).text);
    assert.deepEqual([data.resultType, data.result[1]], ["scalar", expected], query);
  }
  const { text } = await asked("query", { query: 'rate({a="b"} | c > 1.2s [1500ms])' });
  assert.deepEqual(JSON.parse(text).warnings, ["1500ms is counted as 2s."]);
});

Deno.test("a label stands for the attributes of the records that its own selector selects", async () => {
  const ofService: Record<string, string> = { a: "attrs.http.status", b: "attrs.http_status" };
  const look_up = (dsl: string) =>
    lookUp(ofService[/service:"(.)"/.exec(dsl)?.[1] ?? ""].slice("attrs.".length))(dsl);
  const counted = (service: string) =>
    `sum(count_over_time({service="${service}"} | http_status="500" [1m]))`;
  const { calls } = await asked(
    "query",
    { query: `${counted("a")} / ${counted("b")} + ${counted("a")}` },
    "",
    { ...answers, look_up },
  );
  assert.deepEqual(
    calls,
    ["a", "b", "a"].map((service) =>
      `log_stats service:"${service}" ${ofService[service]}:"500" | count()`
    ),
  );
});

Deno.test("a label that could stand for a hidden attribute is looked up among the visible attributes", async () => {
  const log_stats = (dsl: string) => [{ group: {}, value: dsl.includes("error_kind:*") ? 1 : 0 }];
  const query = 'sum(count_over_time({env="p"} | error_kind="io" [1m]))';
  const hidden = "attrs.error.kind";
  const { status, text, calls } = await asked("query", { query }, hidden, {
    ...answers,
    log_stats,
  });
  assert.equal(status, 200, text);
  assert.equal(calls.at(-1), 'log_stats env:"p" attrs.error_kind:"io" | count()');
});

Deno.test("several attributes with one label are one label: a record's first one counts", async () => {
  const look_up = lookUp("error.kind", "error_kind");
  const log_stats = [
    { group: { "attrs.error_kind": "io", "attrs.error.kind": null }, value: 2 },
    { group: { "attrs.error_kind": null, "attrs.error.kind": "io" }, value: 3 },
  ];
  const { text, calls } = await asked(
    "query",
    { query: 'sum by (error_kind) (count_over_time({env="p"} | error_kind!="x" [1m]))' },
    "",
    { ...answers, look_up, log_stats },
  );
  assert.deepEqual(calls, [
    'log_stats env:"p" ((attrs.error_kind:* -attrs.error_kind:"x") OR ' +
    '(-attrs.error_kind:* -attrs.error.kind:"x")) | count() by attrs.error_kind, attrs.error.kind',
  ]);
  const [{ metric, value }] = JSON.parse(text).data.result;
  assert.deepEqual([metric, value[1]], [{ error_kind: "io" }, "5"]);
  const unwrapped = 'sum(sum_over_time({env="p"} | unwrap error_kind [1m]))';
  const byRecords = await asked("query", { query: unwrapped }, "", { ...answers, look_up });
  assert.deepEqual(byRecords.calls, ['search_logs env:"p"']);
});

Deno.test("Explore's volume is a count by level, which needs no record", async () => {
  const query = 'sum by (level, detected_level) (count_over_time({service=~".+"}[60s]))';
  assert.deepEqual(await translated(query), [
    'log_series service:* -service:"" | count() by (60s), level',
  ]);
});

Deno.test("no request that Grafana sends by itself is refused", async () => {
  for (const { source, path, parameters } of grafanaRequests) {
    const { status, text } = await asked(path, parameters);
    assert.equal(status, 200, `${source}: ${path} ${parameters.query}: ${text}`);
  }
});

Deno.test("endpoints without a database call also refuse unknown readers", async () => {
  const unknown = { code: "PT401", message: "Invalid", details: null, hint: null };
  const outside = {
    ...unknown,
    code: "PT403",
    details: JSON.stringify({ name: "callers.operation_is_outside" }),
  };
  for (
    const [path, query] of [
      ["query", "vector(1)+vector(1)"],
      ["query_range", "1+1"],
      ["format_query", "vector(1)"],
      ["status/buildinfo", ""],
      ["drilldown-limits", ""],
      ["label/__name__/values", ""],
    ]
  ) {
    const statuses = await Promise.all([
      Response.json(unknown, { status: 401 }),
      Response.json({ ...outside, details: null }, { status: 403 }),
      Response.json(outside, { status: 403 }),
    ].map(async (validate_query) => {
      const { status } = await asked(path, { ...hour, query }, "", { ...answers, validate_query });
      return status;
    }));
    assert.deepEqual(statuses, [401, 403, 200], path);
  }
});

Deno.test("format_query returns a valid query unchanged", async () => {
  const { text } = await asked("format_query", { query: ' {a="b"} | json ' });
  assert.deepEqual(JSON.parse(text), { status: "success", data: '{a="b"} | json' });
  assert.equal((await asked("format_query", { query: "{a=" })).status, 400);
});

Deno.test("with a hidden label, streams have the other labels", async () => {
  const distinct = (fields: string[]) =>
    fields.map((field, n) => `count_distinct(${field}) as n${n}`).join(", ");
  const { status, calls } = await asked("series", { "match[]": '{level="error"}' }, "host");
  assert.deepEqual([status, ...calls], [
    200,
    "log_stats level:error | count() by env, host, level, route, service",
    `log_stats level:error | ${distinct(["env", "host", "level", "route", "service"])}`,
    `log_stats level:error | ${distinct(["env"])}`,
    `log_stats level:error | ${distinct(["host"])}`,
    "log_stats level:error | count()",
    ...["level", "route", "service"].map((field) => `log_stats level:error | ${distinct([field])}`),
    "log_stats level:error | count() by env, level, route, service",
  ]);
  const named = await asked("series", { "match[]": '{host="a"}' }, "host");
  assert.deepEqual([named.status, named.text], [400, "Hidden: host\n"]);
});
