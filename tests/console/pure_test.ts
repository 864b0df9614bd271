/// <reference lib="dom" />
import assert from "node:assert/strict";
import { readAddress, writeAddress } from "../../console/src/address/address.ts";
import {
  instant,
  rangeLabel,
  resolve,
  typed,
  untyped,
  wider,
} from "../../console/src/address/range.ts";
import { recordsOf, seriesOfIncident } from "../../console/src/alerts/incident-query.ts";
import { ParentPage } from "../../console/src/portal/parent-page.ts";
import { createPortalService } from "../../console/src/portal/portal-service.ts";
import { PortalSession } from "../../console/src/portal/portal-session.ts";
import { createService } from "../../console/src/service/client.ts";
import type { Config } from "../../console/src/service/config.ts";
import type {
  AlertIncident,
  ErrorGroup,
  ErrorGroupDetails,
  HealthReport,
} from "../../console/src/service/logloom.ts";
import { readerOf } from "../../console/src/service/session.ts";
import { TokenSession } from "../../console/src/service/token-session.ts";
import { suggestionOf, withSuggestion } from "../../console/src/search/query-suggestion.ts";
import { jsonIn, stackIn } from "../../console/src/search/message-parts.ts";
import {
  aggregates,
  attributeField,
  filterOf,
  groupedBy,
  groupKeys,
  hasClause,
  measuredBy,
  quoted,
  seriesOf,
  splitQuery,
  variablesOf,
  withClause,
  withOnly,
  withoutClause,
  withVariables,
} from "../../console/src/language/edit-query.ts";
import { columnsOf, segmentsOf } from "../../console/src/search/record-columns.ts";
import { csvOf, mostSaved, RecordFile } from "../../console/src/search/export-file.ts";
import { excerptOf, marksOf } from "../../console/src/search/query-diagnostics.ts";
import { exactJson, parseExactly } from "../../console/src/service/exact-json.ts";
import { concerns } from "../../console/src/health/health-summary.ts";
import { placeOf as placeOfGroup } from "../../console/src/errors/group-query.ts";
import { draftOf, parametersOf } from "../../console/src/alerts/rule-draft.ts";
import { detailsOf, subjectOf, verdictWords } from "../../console/src/settings/audit-words.ts";
import { secondsOf, valuesAt } from "../../console/src/shared/earlier-periods.ts";
import { ago } from "../../console/src/shared/format-time.ts";
import { changeOf, isSudden } from "../../console/src/shared/change-words.ts";
import {
  bytes,
  decimalSign,
  readNumber,
  took,
  writtenNumber,
} from "../../console/src/shared/format-number.ts";
import { ansiSpans, oneLine, plain } from "../../console/src/shared/safe-text.ts";

Deno.test("the health of sending is the worst of database, storage and queue", () => {
  const of = (checks: Record<string, unknown>) =>
    concerns({ status: "unhealthy", timestamp: "", checks } as unknown as HealthReport)[0];
  const healthy = { status: "healthy" };
  const filling = { status: "degraded", reason: "Storage is 83 % full, full in 9 days" };
  const readOnly = { status: "unhealthy", reason: "The database is read-only" };
  const title = "Sending events";
  assert.deepEqual(of({ database: healthy, storage: healthy, queue: healthy }), {
    title,
    words: "Events are accepted and stored.",
    tone: "good",
  });
  assert.deepEqual(of({ storage: filling, queue: healthy }), {
    title,
    words: filling.reason,
    tone: "warn",
  });
  assert.deepEqual(of({ database: readOnly, storage: filling, queue: healthy }), {
    title,
    words: readOnly.reason,
    tone: "bad",
  });
});

Deno.test("an address is read back as it was written", () => {
  const addresses = [
    { screen: "search", parameters: { q: 'level:error "a & b" | count() by x', from: "now-1h" } },
    { screen: "search", parameters: { q: "日本 #%+?=&", cols: 'attrs."a,b",host' } },
    { screen: "alerts", parameters: { q: "x" } },
    { screen: "keys", parameters: {} },
  ] as const;
  for (const address of addresses) {
    assert.deepEqual(readAddress(writeAddress(address)), address);
  }
  assert.equal(
    writeAddress({ screen: "search", parameters: { q: "level:error a" } }),
    "#q=level:error+a",
  );
  assert.equal(readAddress("#/nonsense").screen, "unknown");
});

Deno.test("a range has times or words like now-1h, and anything else is invalid", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  assert.equal(instant("now-90m", now), Date.parse("2026-11-21T10:30:00Z"));
  assert.equal(instant("2026-11-21T10:00", now), Date.parse("2026-11-21T10:00:00Z"));
  assert.equal(instant("yesterday", now), null);
  for (const tooFar of ["now+999999999w", "now-999999999w"]) {
    assert.equal(instant(tooFar, now), null);
    assert.equal(rangeLabel({ from: "2026-11-21", to: tooFar }, "utc"), "Invalid range");
    assert.equal(untyped(tooFar, "utc", now), tooFar);
  }
  assert.equal(resolve({ from: "now", to: "now-1h" }, now), null);
  const range = { from: "2026-11-21T11:00:00.000Z", to: "2026-11-21T12:00:00.000Z" };
  assert.deepEqual(resolve({ from: "now-1h", to: "now" }, now), range);
  assert.equal(wider(range)?.from, "now-6h");
});

Deno.test("a click adds a condition, replaces its opposite, and keeps the rest of the query", () => {
  const cases: [string, string][] = [
    [withClause("", "service", "api", "in"), "service:api"],
    [withClause("level:error", "service", "api", "in"), "level:error service:api"],
    [withClause("a OR b", "service", "api", "in"), "(a OR b) service:api"],
    [withClause("service:api x", "service", "api", "out"), "-service:api x"],
    [withClause("service:api", "service", "api", "in"), "service:api"],
    [withClause("x | count() by host", "env", "a b", "in"), 'x env:"a b" | count() by host'],
    [withClause('"a | b"', "host", 'say "hi"', "in"), '"a | b" host:"say \\"hi\\""'],
    [withClause("x", "attrs.ms", "5", "least"), "x attrs.ms:>=5"],
    [withOnly("level:warn a", "level", "error"), "a level:error"],
    [groupedBy("x | count()", "host"), "x | count() by host"],
    [groupedBy("x | p95(attrs.ms)", "host"), "x | p95(attrs.ms) by host"],
    [measuredBy("x | count() by host", "attrs.ms"), "x | p95(attrs.ms) by host"],
    [measuredBy("", "attrs.ms"), "| p95(attrs.ms)"],
  ];
  for (const [found, wanted] of cases) assert.equal(found, wanted);
  assert.deepEqual(splitQuery('msg:~"a|b" | count()'), {
    filter: 'msg:~"a|b" ',
    rest: "| count()",
  });
  assert.equal(aggregates('"a | b"'), false);
  assert.equal(aggregates("a\\|b | rate()"), true);
  assert.equal(aggregates("a | where b | sort by ts | limit 5"), false);
  assert.equal(aggregates("a | json msg | p95(@ms) by host"), true);
  assert.equal(aggregates('a | extract "took <ms> ms" | limit 5'), false);
  assert.equal(
    filterOf('a | extract_regexp "(?P<b>c)" | count()'),
    'a | extract_regexp "(?P<b>c)"',
  );
  assert.equal(filterOf('a | where "b | c" | json msg | limit 5'), 'a | where "b | c" | json msg');
  assert.equal(
    seriesOf("a | where b | count() by host | limit 5"),
    "a | where b | count() by host",
  );
  assert.equal(seriesOf("a | patterns"), null);
  const shop = 'service:$service -attrs."a b":$where | count()';
  assert.deepEqual(variablesOf(shop), [["service", "service"], ["where", 'attrs."a b"']]);
  assert.equal(
    withVariables(shop, (name) => name === "service" ? "a $& b" : ""),
    'service:"a $& b" * | count()',
  );
  assert.equal(quoted("AND"), '"AND"');
  assert.equal(attributeField(["user agent", "a.b", "é"]), 'attrs."user agent"."a.b".é');
});

Deno.test("an incident's query is limited to its group, also to the group without a value", () => {
  const incident = (group: Record<string, string | null>) =>
    ({ query_dsl: "level:error | count() by service, env", group }) as unknown as AlertIncident;
  assert.equal(recordsOf(incident({ service: "a b" })), 'level:error service:"a b"');
  assert.equal(recordsOf(incident({ service: null })), "level:error -service:*");
  assert.equal(
    seriesOfIncident(incident({ service: null, env: "prod" })),
    "level:error -service:* env:prod | count()",
  );
  // No query finds exactly the records of an error.
  assert.equal(recordsOf(incident({ fingerprint: "f1", error: "x", service: "a" })), null);
});

Deno.test("the records of an error are searched by what all of them have in common", () => {
  const queryOf = (group: Partial<ErrorGroup>, ...messages: string[]) =>
    placeOfGroup({
      group: {
        service: 'a "b"',
        error_type: "TypeError",
        title: "TypeError: card <*> was declined by <*>",
        first_seen: "2026-11-01T00:00:00Z",
        last_seen: "2026-11-21T12:00:00Z",
        ...group,
      },
      newest: messages.map((msg) => ({ msg })),
    } as unknown as ErrorGroupDetails);
  const message = "card 7 was declined by the bank";
  assert.deepEqual(queryOf({}, message, `TypeError: ${message}`), {
    q: 'level:error service:="a \\"b\\"" msg:"was declined by"',
    from: "2026-11-07T12:00:00.000Z",
    to: "2026-11-21T12:00:00.001Z",
  });
  assert.equal(queryOf({ service: null }, message, "other").q, "level:error -service:*");
  assert.equal(queryOf({ fingerprint: "others", title: null }, message).q, "level:error");
});

Deno.test("a click on a pressed value removes its condition and the AND beside it", () => {
  const cases: [string, string][] = [
    ["service:api", ""],
    ["a service:api b | count()", "a b | count()"],
    ["a AND service:api", "a"],
    ["service:api AND b", "b"],
    ['(x OR y) service:api "a  b"', '(x OR y) "a  b"'],
  ];
  for (const [query, wanted] of cases) {
    assert.ok(hasClause(query, "service", "api"), query);
    assert.equal(withoutClause(query, "service", "api"), wanted);
  }
  // These queries do not require the value.
  for (const query of ["service:api OR b", "NOT service:api", "-service:api", "(service:api)"]) {
    assert.equal(hasClause(query, "service", "api"), false, query);
    assert.equal(withoutClause(query, "service", "api"), query);
  }
});

Deno.test("groups have the columns of the query, in its order", () => {
  const cases: [string, string[]][] = [
    ["| count() by service, host", ["service", "host"]],
    ['x | count() as n, max(@a) by (5m),@b."c, by d" | sort by n', ["ts", 'attrs.b."c, by d"']],
    ["| json msg | p95(@ms)", []],
    ["by service", []],
  ];
  for (const [query, wanted] of cases) assert.deepEqual(groupKeys(query), wanted, query);
});

Deno.test("a time is typed in the displayed zone, and the address has the instant", () => {
  const now = Date.parse("2026-11-21T12:00:00Z");
  // Times are in this machine's zone.
  const local = new Date(2026, 10, 21, 9, 30).toISOString();
  assert.equal(untyped(" 2026-11-21T09:30 ", "local", now), local);
  assert.equal(typed(local, "local"), "2026-11-21T09:30");
  assert.equal(untyped("2026-11-21", "local", now), new Date(2026, 10, 21).toISOString());
  assert.equal(untyped("2026-11-21T09:30", "utc", now), "2026-11-21T09:30:00.000Z");
  for (const zone of ["local", "utc"] as const) {
    assert.equal(untyped("2026-11-21T09:30+02:00", zone, now), "2026-11-21T07:30:00.000Z");
    for (const word of ["now", "now-3h", "yesterday"]) {
      assert.equal(untyped(word, zone, now), word);
      assert.equal(typed(word, zone), word);
    }
  }
  assert.equal(typed("2026-11-21T09:30:05.250Z", "utc"), "2026-11-21T09:30:05.250");
});

Deno.test("an export file takes records up to its limits", () => {
  const record = { ts: "t", msg: "m", attrs: { a: "x".repeat(1_000_000) } } as never;
  const file = new RecordFile("ndjson");
  let taken = 0;
  while (file.add(record)) taken += 1;
  assert.equal(taken, file.count);
  assert.equal(taken, Math.floor(mostSaved.bytes / 1_000_033));
  const many = new RecordFile("csv");
  const short = { ts: "t", msg: "m", attrs: {} } as never;
  while (many.add(short));
  assert.equal(many.count, mostSaved.records);
});

Deno.test("the editor marks a warning at its word and shows the suggestion", () => {
  const warning = { position: 5, message: "level is a word", suggestion: "level:error" };
  const verdict = { valid: true, error: null, position: null, hint: null, warnings: [warning] };
  assert.deepEqual(marksOf("🪵 x level = error", { ...verdict }), [
    { from: 5, to: 10, severity: "warning", message: "level is a word — level:error" },
  ]);
});

Deno.test("columns may have any name", () => {
  assert.deepEqual(columnsOf('host,attrs."a,b".c,attrs.é'), ["host", 'attrs."a,b".c', "attrs.é"]);
  assert.deepEqual(segmentsOf('attrs."a.b \\"x\\"".c'), ["attrs", 'a.b "x"', "c"]);
});

Deno.test("numbers are shown as they were sent", () => {
  const text = '{"a":12345678901234567890,"b":0.1,"c":[9007199254740993]}';
  assert.equal(exactJson(parseExactly(text), 0), text);
});

Deno.test("log texts are harmless: no escape codes, no reversed text, no formulas", () => {
  assert.deepEqual(ansiSpans("\x1b[1;31mred\x1b[0m plain \x1b]8;;http://x\x07link"), [
    { text: "red", className: "ansi-1 ansi-bold" },
    { text: " plain ", className: undefined },
    { text: "link", className: undefined },
  ]);
  assert.equal(plain("a\u202eb\0c\x1bd"), "a⟨202e⟩b␀c␛d");
  assert.equal(oneLine("a\r\nb\tc"), "a ↵ b  c");
  assert.equal(oneLine("x".repeat(2000)).length, 1001);
  const row = { ts: "t", msg: "=cmd|x", attrs: { a: 'q"' } };
  const csv = csvOf([{ ...row, level: null, service: "-1", id: "i" } as never]);
  assert.match(csv, /'=cmd\|x/);
  assert.match(csv, /,'-1,/);
  for (const sign of ["=", "＝", "＋", "－", "＠", "\n="]) {
    assert.match(
      csvOf([{ ...row, msg: `${sign}1` } as never]),
      new RegExp(`[,"]'${sign}1[,"]`),
      sign,
    );
  }
  assert.match(csv, /"\{""a"":""q\\""""\}"/);
});

Deno.test("a suggestion replaces the words that it corrects", () => {
  const cases: [string, string, number, string][] = [
    ["service = shop declined", "service:shop", 1, "service:shop declined"],
    ["card and declined", "AND", 6, "card AND declined"],
    ["level:error group by host now", "| count() by host", 13, "level:error | count() by host now"],
    ["😀 service=shop", "service:shop", 3, "😀 service:shop"],
    ["‘a b’ c", '"a b"', 1, '"a b" c'],
    ["foo", "bar", 1, "bar"],
  ];
  for (const [query, text, at, wanted] of cases) {
    assert.equal(withSuggestion(query, { text, at }), wanted);
  }
  const verdict = { valid: false, error: "", position: 3, warnings: [] };
  assert.deepEqual(suggestionOf({ ...verdict, hint: "Write level:(a OR b), values only." }), null);
  assert.deepEqual(suggestionOf({ ...verdict, hint: "Write attrs.x:5." }), {
    text: "attrs.x:5",
    at: 3,
  });
  assert.deepEqual(suggestionOf({ ...verdict, hint: "A level is debug or info." }), null);
  const hint = "Write the whole query as level:error | limit 5 (without dedup x)";
  assert.deepEqual(suggestionOf({ ...verdict, hint }), { text: "level:error | limit 5", at: null });
  const warning = { position: 3, message: "No x. Replace the whole query", suggestion: "y:1" };
  const valid = { valid: true, error: null, position: null, hint: null };
  assert.deepEqual(suggestionOf({ ...valid, warnings: [warning] }), { text: "y:1", at: null });
  assert.equal(suggestionOf({ ...valid, warnings: [{ ...warning, suggestion: "" }] }), null);
  assert.equal(withSuggestion("a b c", { text: "y:1", at: null }), "y:1");
});

Deno.test("JSON and stack traces in a message are found, with the first frame of our own code", () => {
  assert.deepEqual(jsonIn('order {"id": 7}'), { before: "order", value: { id: 7 } });
  assert.equal(jsonIn("no {json}"), null);
  assert.equal(jsonIn("[]"), null);
  const python = [
    "Traceback (most recent call last):",
    '  File "/usr/lib/python3.11/site-packages/x.py", line 1, in a',
    "    a()",
    '  File "/app/main.py", line 2, in b',
    "    b()",
    '  File "/usr/lib/python3.11/json.py", line 3, in c',
    "    c()",
    "ValueError: no",
  ].join("\n");
  const stack = stackIn(python);
  assert.equal(stack?.head, "Traceback (most recent call last):");
  assert.equal(stack?.frames[stack.own], '  File "/app/main.py", line 2, in b');
  assert.equal(stack?.tail, "ValueError: no");
  assert.equal(stackIn("a\n  b\n  c"), null);
});

Deno.test("an earlier period is drawn at the times of the chart", () => {
  const times = [7200, 7260, 7320];
  const ts = (seconds: number) => new Date(seconds * 1000).toISOString();
  assert.deepEqual(valuesAt(times, [[ts(3600), 4], [ts(3720), 2]], 3600, 60), [4, null, 2]);
  assert.equal(secondsOf("1d"), 86_400);
  assert.equal(secondsOf(undefined), null);
});

Deno.test("an audit event says what changed by name, from which value to which", () => {
  const event = {
    subject: "id",
    details: {
      rule_name: "Errors",
      note: { from: null, to: "full" },
      assigned_to: { from: null, to: "u1" },
      days: 7,
    },
  };
  assert.equal(subjectOf(event, new Map()), "Errors");
  assert.equal(
    subjectOf({ subject: "id", details: {} }, new Map([["id", "Payments"]])),
    "Payments",
  );
  assert.equal(subjectOf({ subject: "id", details: {} }, new Map()), null);
  assert.deepEqual(
    detailsOf(event, (person) => `${person}@acme.example`),
    ["note: none → full", "assigned_to: none → u1@acme.example", "days: 7"],
  );
  const found = { events: 2, erased: 0, day_from: null, day_to: null, digest: null };
  const place = { fault_day: "2026-11-21", fault_position: 3, fault_event_id: "id" };
  assert.equal(
    verdictWords({ ...found, ...place, fault: "event_changed", next_day: null }),
    "The chain is broken on 2026-11-21 at event 3: the event was changed.",
  );
});

Deno.test("a change is told in words, and isMuchMore means at least twice as many, not by chance", () => {
  const cases: [number, number, string, boolean][] = [
    [292, 0, "new", true],
    [4, 0, "new", false],
    [0, 7, "none any more", false],
    [110, 100, "as yesterday", false],
    [150, 100, "+50%", false],
    [50, 100, "-50%", false],
    [300, 100, "×3", true],
    [4, 2, "×2", false],
  ];
  for (const [now, before, words, isMuchMore] of cases) {
    assert.deepEqual(changeOf(now, before), { words, isMuchMore });
  }
  assert.equal(changeOf(0, 0), null);
  assert.deepEqual(
    [[0, 0], [16, 0], [15, 0], [33, 7], [25, 7], [400, 250]].map(([now = 0, before = 0]) =>
      isSudden(now, before)
    ),
    [false, true, false, true, false, false],
  );
  assert.deepEqual([took(0.2), took(18.4), took(1349)], ["1 ms", "18 ms", "1.3 sec"]);
  assert.deepEqual([0, 1, 999, 1500].map(bytes), ["0 bytes", "1 byte", "999 bytes", "1.5 kB"]);
  assert.equal(ago("2026-11-21", Date.parse("2026-11-22")), "24\u00a0hours\u00a0ago");
});

Deno.test("the excerpt of a query around an error shows where it is cut", () => {
  assert.deepEqual(excerptOf("level:(error service:", 14), ["level:(error ", "service:"]);
  const long = excerptOf("a level:(error service:shop host:web", 16);
  assert.deepEqual(long, ["…evel:(error ", "service:shop…"]);
  assert.deepEqual(excerptOf("(", 2), ["(", ""]);
});

Deno.test("numbers are typed in the reader's locale, without thousands separators", () => {
  assert.deepEqual(["en-US", "de-DE", "ar-EG"].map(decimalSign), [".", ",", "."]);
  const cases: [string, string, number | null][] = [
    ["1,5", ",", 1.5],
    [" -0,25 ", ",", -0.25],
    ["1.5", ".", 1.5],
    [".5", ".", 0.5],
    ["1e3", ",", 1000],
    ["1,5", ".", null],
    ["1.500", ",", null],
    ["1,500", ".", null],
    ["1.500,5", ",", null],
    ["1.5", ",", null],
    ["1e999", ".", null],
    ["0x10", ".", null],
    ["", ".", null],
  ];
  for (const [text, sign, number] of cases) assert.equal(readNumber(text, sign), number, text);
  for (const sign of [".", ","]) {
    for (const number of [0, 1.5, -0.001, 123456.789, 1e21, 5e-324]) {
      assert.equal(readNumber(writtenNumber(number, sign), sign), number);
    }
  }
});

Deno.test("a rule whose threshold is not a number is not sent", () => {
  const draft = draftOf({ threshold: 1.5 });
  assert.equal(parametersOf(draft)?.p_threshold, 1.5);
  for (const threshold of ["", "abc", `1${decimalSign() === "," ? "." : ","}5`]) {
    assert.equal(parametersOf({ ...draft, threshold }), null, threshold);
  }
  // A rule for errors has no condition, and keeps its kind.
  const errors = { ...draft, threshold: "", kind: "new_error" as const, query_dsl: "*" };
  const { p_kind, p_query_dsl, ...others } = parametersOf(errors) ?? {};
  assert.deepEqual([p_kind, p_query_dsl], ["new_error", "*"]);
  assert.ok(!("p_threshold" in others) && !("p_comparison" in others));
  assert.ok(!("p_kind" in (parametersOf({ ...errors, rule_id: "r" }) ?? {})));
});

Deno.test("a refusal of the last reader's token does not sign out the next reader", async () => {
  const kept = new Map<string, string>();
  const session = new TokenSession({
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => kept.set(name, value),
    removeItem: (name: string) => kept.delete(name),
  } as unknown as Storage);
  const tokenOf = (sub: string) => `e30.${btoa(JSON.stringify({ sub, tenant_id: "shop" }))}.x`;
  session.signIn(tokenOf("ada"));
  const asked = Promise.withResolvers<void>();
  const next = Promise.withResolvers<void>();
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async () => {
      asked.resolve();
      await next.promise;
      return Response.json({ message: "The token has expired" }, { status: 401 });
    },
  );
  const config = { url: `http://127.0.0.1:${server.addr.port}`, key: "" } as Config;
  const service = createService(config, session, readerOf(session.claims()));
  const reads = service.call("list_api_keys", {});
  await asked.promise;
  session.signIn(tokenOf("grace"));
  next.resolve();
  await assert.rejects(reads, { status: 401 });
  assert.equal(session.claims()?.user, "grace");

  const now = createService(config, session, readerOf(session.claims()));
  await assert.rejects(now.call("list_api_keys", {}), { status: 401 });
  assert.deepEqual([session.hasEnded(), session.refusal?.message], [true, "The token has expired"]);
});

Deno.test("a portal does not repeat a request with the next reader's token", async () => {
  const session = new PortalSession(null);
  session.give("token-of-ada", false);
  const asked = Promise.withResolvers<void>();
  const next = Promise.withResolvers<void>();
  const tokens: (string | null)[] = [];
  await using server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    async ({ headers }) => {
      tokens.push(headers.get("authorization"));
      asked.resolve();
      await next.promise;
      return Response.json({ message: "The token has expired" }, { status: 401 });
    },
  );
  const config = { url: `http://127.0.0.1:${server.addr.port}` } as Config;
  const service = createPortalService(config, session, new ParentPage("", [], () => {}));
  const reads = service.call("search_logs", { p_query_dsl: "level:error" });
  await asked.promise;
  session.give("token-of-grace", false);
  next.resolve();
  await assert.rejects(reads);
  assert.deepEqual(tokens, ["Bearer token-of-ada"]);
});
