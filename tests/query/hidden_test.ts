import { deepStrictEqual, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { openDatabase } from "../support/database.ts";
import { randomOf } from "../support/random.ts";
import { tell } from "../support/trial_counts.ts";
import { event, query } from "./random_queries.ts";
import { timestamp } from "./run_queries.ts";
import { type Event, isRecord, type Json } from "./event.ts";

// Two data sets that differ only in hidden values must give the same answers, byte for byte. Random queries of every
// reading operation run over rows, and over rows and blocks; the two must agree as well. Half of the queries name a
// hidden field. Without the scope their answers must differ, or the test would prove nothing. Hidden values differ in
// length (by 1 to 100,000), type and number. A field with few values has different values, in different numbers.
// There are three scopes. npm test runs 180 queries, npm run trial 600 more each turn. QUERY_COUNT is the number of
// queries for each scope. To repeat a run: QUERY_SEED=….

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const queriesOfEach = Number(Deno.env.get("QUERY_COUNT") ?? 60);
const records = 120;
const tenant = "hidden-values";
const view = "018f0000-0000-7000-8000-ffffffffffff";

interface Hidden {
  /** The hidden fields of the scope. */
  readonly fields: readonly string[];
  /** The names by which a query can name a hidden field, and the field's value in a record. */
  readonly named: readonly (readonly [string, (event: Event) => Json | undefined])[];
  /** Two visible fields, to group by. */
  readonly shown: readonly [string, string];
  /** The query of a view that hides these fields; null for all records. */
  readonly filter: string | null;
  /** Replaces the hidden values of an event. */
  readonly fill: (event: Event, values: Values) => Event;
}

/** Makes hidden values of one set. */
interface Values {
  value(): Json;
  text(): string | null;
  level(): string | null;
}

const scopes: readonly Hidden[] = [
  {
    fields: ["msg", "user_id", "attrs.a"],
    named: [
      ["msg", (event) => event.msg],
      ["user_id", (event) => event.user_id],
      ["attrs.a", (event) => event.attrs?.a],
      ["@a", (event) => event.attrs?.a],
      ['@"a"', (event) => event.attrs?.a],
      ["attrs.a.b", (event) => memberOf(event.attrs?.a, "b")],
    ],
    shown: ["level", "service"],
    filter: null,
    fill: (event, { value, text }) => ({
      ...event,
      msg: text(),
      user_id: text(),
      attrs: { ...without(event.attrs, "a"), a: value() },
    }),
  },
  {
    fields: ["host", "attrs.http.status"],
    named: [
      ["host", (event) => event.host],
      ["attrs.http.status", (event) => memberOf(event.attrs?.http, "status")],
      ["@http.status", (event) => memberOf(event.attrs?.http, "status")],
      ['@"http.status"', (event) => event.attrs?.["http.status"]],
      ["@http.status.b", (event) => memberOf(memberOf(event.attrs?.http, "status"), "b")],
    ],
    shown: ["level", "service"],
    filter: "level:* OR -service:worker",
    fill: (event, { value, text }) => ({
      ...event,
      host: text(),
      attrs: {
        ...without(event.attrs, "http", "http.status"),
        "http.status": value(),
        http: { method: "GET", status: value() },
        list: [{ http: "x" }, { http: { status: "shown" } }],
      },
    }),
  },
  // Fields that have counts (level, service), and the attribute that is hidden with the level.
  {
    fields: ["level", "service", "route", "attrs.original_level"],
    named: [
      ["level", (event) => event.level],
      ["service", (event) => event.service],
      ["route", (event) => event.route],
      ["attrs.original_level", (event) => event.attrs?.original_level],
      ["@original_level", (event) => event.attrs?.original_level],
    ],
    shown: ["host", "env"],
    // There is no filter, because counts cannot answer with one.
    filter: null,
    fill: (event, { value, text, level }) => ({
      ...event,
      level: level(),
      service: text(),
      route: text(),
      attrs: { ...without(event.attrs, "original_level"), original_level: value() },
    }),
  },
];

function memberOf(value: Json | undefined, key: string): Json | undefined {
  return isRecord(value) ? value[key] : undefined;
}

/** Attributes without some keys and flat keys below them. */
function without(attrs: Event["attrs"], ...keys: string[]): { [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(attrs ?? {}).filter(([key]) =>
      !keys.some((hidden) => key === hidden || key.startsWith(`${hidden}.`))
    ),
  );
}

type Call = readonly [operation: string, parameters: { [name: string]: unknown }];

const range = { p_ts_from: "2026-11-17T00:00:00Z", p_ts_to: "2026-11-24T00:00:00Z" };
/** A range that has as many events as the range before it. */
const halves = { p_ts_from: "2026-11-20T12:00:00Z", p_ts_to: "2026-11-24T00:00:00Z" };

/** Returns by how many characters the hidden texts of record n are longer in one set than in the other. */
function difference(n: number, seed: number): number {
  const random = randomOf(seed + n);
  return n < 2 ? [1, 100_000][n] : Math.floor(100_000 ** (random(1000) / 1000));
}

function eventsOf(hidden: Hidden, visible: Event[], seed: number, set: number): Event[] {
  const random = randomOf(seed + set);
  const pick = <T>(values: T[]) => values[random(values.length)];
  const distinct = [4, 40][set];
  return visible.map((event, n) => {
    const length = 8 + randomOf(seed - n)(30) + (n % 2 === set ? difference(n, seed) : 0);
    const text = () =>
      `${set}x${String(random(distinct)).padStart(2, "0")}${" word of text".repeat(length / 12)}`
        .slice(0, length);
    const value = pick<() => Json>([
      text,
      text,
      () => random(distinct) * 2 + set,
      () => random(distinct) / 8 + set * 1000,
      () => set === 1,
      () => [text(), random(9)],
      () => ({ b: text(), c: random(9) }),
    ]);
    return hidden.fill(event, {
      value,
      text: () => random(6) === 0 ? null : text(),
      level: () => pick<string | null>([["error", "info"], ["debug", "warn", "error", null]][set]),
    });
  });
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (c) => `\\${c}`)}"`;
}

/** Calls that name a hidden field, with values of one of the sets. */
function namingCalls(hidden: Hidden, sets: Event[][], count: number, seed: number): Call[] {
  const random = randomOf(seed);
  const calls: Call[] = [];
  while (calls.length < count) {
    const [name, valueOf] = hidden.named[random(hidden.named.length)];
    const value = valueOf(sets[random(2)][random(records)]);
    if (value === undefined || value === null || typeof value === "object") continue;
    const text = String(value);
    const test = typeof value === "string" && text.length > 60 && name !== "msg"
      ? `${name}:${text.slice(0, 4)}*`
      : `${name}:${typeof value === "string" ? quoted(text.slice(0, 60)) : text}`;
    const shapes: Call[] = [
      ["search_logs", { p_query_dsl: test, ...range }],
      ["search_logs", { p_query_dsl: `| fields ${name}`, ...range, p_limit: 30 }],
      ["log_stats", { p_query_dsl: `| count() by ${name}`, ...range }],
      ["log_stats", { p_query_dsl: `${test} | count() by level`, ...range }],
      ["log_histogram", { p_query_dsl: test, ...range }],
      ["log_series", { p_query_dsl: `${test} | count()`, ...range }],
      ["log_series", { p_query_dsl: `| count() by ${name}`, ...range }],
      ["list_log_fields", { p_query_dsl: test, ...range }],
      ["log_overview", { p_query_dsl: test, ...range }],
      ["tail_logs", { p_query_dsl: `NOT ${test}`, p_cursor: "first" }],
      ["export_logs", { p_query_dsl: `level:* OR ${test}`, ...range }],
      ["export_logs", { p_query_dsl: `| fields ${name}`, ...range, p_format: "csv" }],
      ["log_changes", { p_query_dsl: test, ...halves }],
      ...name === "msg"
        ? [["log_stats", { p_query_dsl: "| patterns", ...range }] satisfies Call]
        : [],
    ];
    calls.push(shapes[random(shapes.length)]);
  }
  return calls;
}

/** Calls that name no hidden field. Some use `any`, or name the parent of a hidden attribute. */
function otherCalls(hidden: Hidden, sets: Event[][], count: number, seed: number): Call[] {
  const random = randomOf(seed);
  const sources = fc.sample(query, { seed, numRuns: count });
  const [group, other] = hidden.shown;
  return sources.map((source, n): Call => {
    const [, valueOf] = hidden.named[random(hidden.named.length)];
    const value = valueOf(sets[random(2)][random(records)]);
    const text = quoted(String(value ?? "x").slice(0, 20));
    const asked = [
      source,
      source,
      `any:${text}`,
      `-any:${text}`,
      `${group}:error OR any:${text}*`,
      `any:~"[0-9]x[0-9]"`,
      "",
      `${group}:error`,
      "attrs.http:*",
    ][random(9)];
    const filter = { p_query_dsl: asked };
    return ([
      ["search_logs", { ...filter, ...range, p_limit: 1 + random(60), p_order: "asc" }],
      ["search_logs", { ...filter, ...range, p_limit: 1 + random(60) }],
      ["log_stats", { p_query_dsl: `${asked} | count() by ${group}`, ...range }],
      ["log_stats", { p_query_dsl: `${asked} | sum(attrs.b) by ${other}`, ...range }],
      ["log_stats", { p_query_dsl: `${asked} | count() by attrs.http`, ...range }],
      ["log_stats", { p_query_dsl: `${asked} | patterns`, ...range }],
      ["log_series", { p_query_dsl: `${asked} | count() by ${other}`, ...range }],
      ["log_histogram", { ...filter, ...range }],
      ["log_overview", { ...filter, ...range }],
      ["list_log_fields", { ...filter, ...range }],
      ["tail_logs", { ...filter, p_cursor: "first", p_limit: 1 + random(50) }],
      ["tail_logs", { ...filter, p_backlog: 10 }],
      ["get_log", { p_id: idOf(random(records)) }],
      ["get_log_context", { p_id: idOf(random(records)), p_before: random(9), p_after: 5 }],
      ["validate_query", filter],
      ["export_logs", { ...filter, ...range, p_order: "desc" }],
      ["export_logs", { p_query_dsl: `${asked} | fields ${group}, attrs.http`, ...range }],
      ["export_logs", { ...filter, ...range, p_format: "csv" }],
      ["log_changes", { ...filter, ...halves }],
      ["list_error_groups", range],
      ["get_error_group", { p_id: idOf(random(records)) }],
    ] satisfies Call[])[n % 21];
  });
}

/** Operations that list objects of the view. */
const listingCalls: readonly Call[] = [
  ["list_alert_rules", {}],
  ["list_alert_history", {}],
  ["list_saved_searches", {}],
];

/** The objects of each list that a reader of the view may see; fill_lists adds others. */
const listed: readonly (readonly (readonly [string, unknown])[])[] = [
  [["evaluated in the view", 7], ["evaluated before the view hid this", null]],
  [["2026-11-23T00:00:00+00:00", 7]],
  [["shared in the view", 3]],
];

function idOf(n: number): string {
  return `018f0000-0000-7000-8000-00000000${n.toString(16).padStart(4, "0")}`;
}

for (const [n, hidden] of scopes.entries()) {
  Deno.test(`hidden values change no answer, ${hidden.fields}, seed ${seed + n}`, async () => {
    const rows = await compareSets(hidden, false, seed + n);
    const blocks = await compareSets(hidden, true, seed + n);
    rows.calls.forEach((call, n) => {
      const [ofRows, ofBlocks] = [rows, blocks].map(({ scoped: [answers] }) => answers[n]);
      deepStrictEqual(
        [ofRows.comparable, ofRows.begins],
        [ofBlocks.comparable, ofBlocks.begins],
        `rows and blocks: ${call[0]} ${call[1].p_query_dsl}`,
      );
    });
  });
}

/** An answer as a digest, because whole answers would not fit into memory. */
interface Kept {
  readonly digest: string;
  /** The digest without the examples of patterns, and without cursors, which have the time of their transaction. */
  readonly comparable: string;
  readonly begins: string;
}

function kept(answer: string): Kept {
  const alike = answer.replaceAll(/"(next_)?cursor":"[^"]*"/g, '"$1cursor":"…"')
    .replaceAll(/"example": (?:null|"(?:[^"\\]|\\.)*")/g, '"example": "…"');
  return { digest: digestOf(answer), comparable: digestOf(alike), begins: alike.slice(0, 300) };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The calls, and the answers for both sets. */
interface Asked {
  readonly naming: readonly Call[];
  readonly calls: readonly Call[];
  /** The answers in the scope, for each data set. */
  readonly scoped: Kept[][];
  /** The answers without the scope, for each data set. Only of calls that name a hidden field, and of lists. */
  readonly open: Kept[][];
  /** The whole lists that a reader in the scope gets. */
  readonly lists: string[][];
}

async function askOfSets(hidden: Hidden, sealed: boolean, seed: number): Promise<Asked> {
  const visible = fc.sample(event, { seed, numRuns: records });
  const sets = [0, 1].map((set) => eventsOf(hidden, visible, seed, set));
  const longer = visible.map((_, n) => difference(n, seed));
  deepStrictEqual([Math.min(...longer), Math.max(...longer)], [1, 100_000]);
  const naming = namingCalls(hidden, sets, queriesOfEach / 2, seed);
  const others = otherCalls(hidden, sets, queriesOfEach / 2 - listingCalls.length, seed);
  const calls = [...naming, ...others, ...listingCalls];
  const asked: Asked = { naming, calls, scoped: [], open: [], lists: [] };
  await using sql = openDatabase(undefined, 1);
  await sql.begin(async (sql) => {
    await sql.unsafe(setup);
    const operations = await sql`
      select o.operation from logloom_private.reading_operations() o where o.in_views order by 1`;
    deepStrictEqual(
      [...new Set(calls.map(([operation]) => operation))].sort(),
      operations.map(({ operation }) => operation),
    );
    for (const [set, events] of sets.entries()) {
      await sql.savepoint(async (sql) => {
        const rows = events.map((event, n) => ({
          ...event,
          n,
          ts: timestamp(event.ts),
          received_at: timestamp(event.received_at),
        }));
        const { filter, fields } = hidden;
        await sql`select pg_temp.fill(${JSON.stringify(rows)}::text::jsonb, ${sealed})`;
        await sql`select pg_temp.fill_lists(${set}, ${filter}, ${[...fields]})`;
        const ask = async (some: readonly Call[], isScoped: boolean): Promise<string[]> => {
          const [{ answers }] = await sql`
            select pg_temp.ask(
              ${JSON.stringify(some)}::text::jsonb, ${isScoped}, ${filter}, ${[...fields]}
            ) as answers`;
          return answers;
        };
        const askAll = async (all: readonly Call[], isScoped: boolean): Promise<Kept[]> => {
          const found: Kept[] = [];
          for (let n = 0; n < all.length; n += 50) {
            found.push(...(await ask(all.slice(n, n + 50), isScoped)).map(kept));
          }
          return found;
        };
        asked.scoped.push(await askAll(calls, true));
        asked.lists.push(await ask(listingCalls, true));
        // Rows are enough to see whether the sets differ.
        if (!sealed) asked.open.push(await askAll([...naming, ...listingCalls], false));
        throw nothingStays;
      }).catch(ignoreNothingStays);
    }
    throw nothingStays;
  }).catch(ignoreNothingStays);
  return asked;
}

async function compareSets(hidden: Hidden, sealed: boolean, seed: number): Promise<Asked> {
  const asked = await askOfSets(hidden, sealed, seed);
  const { naming, calls, scoped, open, lists } = asked;
  calls.forEach((call, n) =>
    deepStrictEqual(scoped[0][n], scoped[1][n], `${call[0]} ${call[1].p_query_dsl}`)
  );
  const refused = scoped[0].filter(({ begins }) => begins.includes("is hidden from you")).length;
  const answered = scoped[0].filter(({ begins }) => /^[[{]/.test(begins)).length;
  const failures = scoped[0].concat(...open).filter(({ begins }) =>
    !/^(?:[[{]|PT40[04] |PT403 This view hides fields that decide)/.test(begins)
  );
  deepStrictEqual(failures.slice(0, 3), []);
  console.log(
    `${calls.length} queries over ${sealed ? "blocks and rows" : "rows"}: ` +
      `${answered} answered alike, ${refused} refused`,
  );
  tell({ hiddenQueries: calls.length });
  deepStrictEqual(
    scoped[0].slice(0, naming.length).filter((a) => !a.begins.startsWith("PT400")),
    [],
  );
  ok(refused >= naming.length * 0.95, "too few calls are refused for naming a hidden field");
  ok(answered >= calls.length / 5, "too few calls are answered");
  for (const answers of lists) {
    deepStrictEqual(answers.map((answer) => JSON.parse(answer).map(nameAndValue)), listed);
  }
  if (!sealed) {
    const differ = (n: number) => open[0][n].digest !== open[1][n].digest;
    const differing = naming.filter((_, n) => differ(n)).length;
    console.log(`${differing} of ${naming.length} differ without the scope`);
    ok(differing >= naming.length * 0.9, "the sets are too similar");
    deepStrictEqual(listingCalls.filter((_, n) => !differ(naming.length + n)), []);
  }
  return asked;
}

/** Returns the name and value of an item of a list. */
function nameAndValue(item: { [name: string]: unknown }): [unknown, unknown] {
  return [
    item.name ?? item.triggered_at,
    "last_value" in item ? item.last_value : item.value ?? item.run_count,
  ];
}

const nothingStays = new Error("The transaction is rolled back.");
function ignoreNothingStays(error: unknown): void {
  if (error !== nothingStays) throw error;
}

const setup = `
  -- Makes equal cursors equal texts, so that their contents are compared, too.
  do $$
  begin
    execute replace(
      pg_get_functiondef('logloom_private.encode_cursor(text[])'::regprocedure),
      'extensions.gen_random_bytes(16)', 'substr(v_key, 1, 16)'
    );
  end;
  $$;
  insert into logloom.tenants (tenant_id, plan_id) values ('${tenant}', 'pro');
  update logloom.plans set retention_days_default = 36500, retention_days_max = 36500;
  -- Sizes limit pages, time does not.
  update logloom_private.settings set max_page_bytes = 100000, search_page_time = '1 hour';
  create or replace function logloom_private.sample_bytes() returns integer
  language sql immutable return 100000;
  -- A fixed watermark, because the writer is running.
  create or replace function logloom_private.watermark(p_oldest_queued timestamptz)
  returns timestamptz
  language plpgsql
  stable
  as $$ begin return '2026-11-24'::timestamptz; end; $$;
  create function pg_temp.fill(p_records jsonb, p_seals boolean)
  returns void
  language plpgsql
  as $$
  declare
    v_piece record;
  begin
    perform logloom_private.create_partition(d.day)
    from (
      select distinct logloom_private.utc_day((r ->> 'ts')::timestamptz) as day
      from jsonb_array_elements(p_records) r
    ) d;
    execute logloom_private.added_records_sql(format($query$
      insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, record_bytes, %s)
      select
        ('018f0000-0000-7000-8000-00000000' || lpad(to_hex((r ->> 'n')::integer), 4, '0'))::uuid,
        '${tenant}', (r ->> 'ts')::timestamptz, (r ->> 'received_at')::timestamptz,
        1 + (r ->> 'n')::integer / 10, octet_length(r::text), %s
      from jsonb_array_elements($1) r, jsonb_populate_record(null::logloom.logs, r) p
    $query$,
      logloom_private.written_fields_sql('%1$s'), logloom_private.written_fields_sql('p.%1$s')
    ))
    using p_records;
    if p_seals then
      -- Blocks of about 300 kB, so that their bounds depend on hidden values.
      for v_piece in
        select array_agg(p.id) as ids
        from (
          select
            l.id,
            sum(l.record_bytes) over (order by l.ts, l.id) / 300000 as piece
          from logloom.logs l
          where l.tenant_id = '${tenant}' and hashtext(l.id::text) % 3 <> 0
        ) p
        group by p.piece
      loop
        perform logloom_private.write_block(
          '${tenant}',
          logloom_private.read_records(format(
            'select l.* from logloom.logs l where l.tenant_id = %L and l.id = any(%L)',
            '${tenant}', v_piece.ids
          ))
        );
        -- Their counts stay, like those of a sealed day.
        delete from logloom.logs l where l.tenant_id = '${tenant}' and l.id = any(v_piece.ids);
      end loop;
    end if;
  end;
  $$;
  -- A rule, an alert and a saved search in the view, equal in both sets. And data that readers must
  -- not see, different in both sets: other rows, results from before the view changed, addresses.
  create function pg_temp.fill_lists(p_set integer, p_filter text, p_hidden text[])
  returns void
  language plpgsql
  as $$
  declare
    v_hidden constant text := p_set || 'x01 of ' || p_hidden[cardinality(p_hidden)];
    v_addresses constant jsonb := jsonb_build_object('email', format('set%s@example.com', p_set));
  begin
    insert into logloom.log_views (
      view_id, tenant_id, name, query_dsl, hidden_fields, created_by, created_at, updated_at,
      shows_since
    )
    values (
      '${view}', '${tenant}', 'some', p_filter, p_hidden, 'ann', '2026-11-20', '2026-11-22',
      '2026-11-22'
    );
    insert into logloom.alert_rules (
      rule_id, tenant_id, view_id, name, query_dsl, threshold, comparison, window_minutes,
      cooldown_minutes, enabled, notification_destinations, notification_config, created_at,
      updated_at, asked_at, last_evaluated_at, last_value, last_error
    )
    select
      ('018f0001-0000-7000-8000-00000000000' || r.n)::uuid, '${tenant}', r.view_id, r.name,
      r.query_dsl, 1, 'gt', 5, 5, true, '{email}', v_addresses, r.at, r.at, r.at,
      r.evaluated_at, r.value, r.error
    from (
      values
        (1, null::uuid, v_hidden, 'any:' || quote_ident(v_hidden), '2026-11-21'::timestamptz,
          '2026-11-23'::timestamptz, 100 + p_set, v_hidden),
        (2, '${view}', 'evaluated before the view hid this', 'req_id:*', '2026-11-20',
          '2026-11-21', 100 + p_set, v_hidden),
        (3, '${view}', 'evaluated in the view', 'req_id:*', '2026-11-21', '2026-11-23', 7, null)
    ) r (n, view_id, name, query_dsl, at, evaluated_at, value, error);
    insert into logloom.alert_history (
      alert_id, tenant_id, view_id, rule_id, triggered_at, value, threshold, "group",
      notification_channels, notification_error
    )
    select
      ('018f0002-0000-7000-8000-00000000000' || h.n)::uuid, '${tenant}', h.view_id,
      ('018f0001-0000-7000-8000-00000000000' || h.n)::uuid, h.at, h.value, 1, h.found,
      '{email}', v_addresses ->> 'email'
    from (
      values
        (1, null::uuid, '2026-11-23'::timestamptz, 100 + p_set,
          jsonb_build_object('field', v_hidden)),
        (2, '${view}', '2026-11-21', 100 + p_set, jsonb_build_object('field', v_hidden)),
        (3, '${view}', '2026-11-23', 7, '{"req_id": "a"}')
    ) h (n, view_id, at, value, found);
    insert into logloom.saved_searches (
      id, tenant_id, view_id, name, query_dsl, is_shared, created_by, created_at, updated_at,
      run_count
    )
    select
      ('018f0003-0000-7000-8000-00000000000' || s.n)::uuid, '${tenant}', s.view_id, s.name,
      s.query_dsl, s.is_shared, 'ann', '2026-11-21', '2026-11-21', s.runs
    from (
      values
        (1, null::uuid, v_hidden, 'any:' || quote_ident(v_hidden), true, 100 + p_set),
        (2, '${view}', v_hidden, 'any:' || quote_ident(v_hidden), false, 100 + p_set),
        (3, '${view}', 'shared in the view', 'req_id:*', true, 3)
    ) s (n, view_id, name, query_dsl, is_shared, runs);
  end;
  $$;
  create function pg_temp.answer(
    p_scope logloom_private.reading_scope, p_operation text, p_parameters jsonb
  )
  returns text
  language plpgsql
  security definer
  as $$
  declare
    v_message text;
    v_detail text;
    v_hint text;
  begin
    return logloom_private.read_in_scope(p_scope, p_operation, p_parameters)::text;
  exception when others then
    get stacked diagnostics v_message = message_text, v_detail = pg_exception_detail,
      v_hint = pg_exception_hint;
    return concat_ws(' ', sqlstate, v_message, v_detail, v_hint);
  end;
  $$;
  -- Each answer with up to two more pages.
  create function pg_temp.ask(
    p_calls jsonb, p_is_scoped boolean, p_filter text, p_hidden text[]
  )
  returns text[]
  language plpgsql
  as $$
  declare
    v_scope constant logloom_private.reading_scope := case when p_is_scoped
      then row(
        '${tenant}', array(select o.operation from logloom_private.reading_operations() o), 'key',
        case when p_filter is not null then (logloom_private.compile_query(p_filter)).tree end,
        p_hidden, '${view}', null, null, null, null
      )::logloom_private.reading_scope
      else row('${tenant}', null, 'key', null, null, null, null, null, null, null)::logloom_private.reading_scope end;
    v_call jsonb;
    v_parameters jsonb;
    v_answer text;
    v_text text;
    v_answers text[] := '{}';
  begin
    for v_call in select c from jsonb_array_elements(p_calls) c loop
      v_parameters := v_call -> 1;
      if v_parameters ->> 'p_cursor' = 'first' then
        v_parameters := v_parameters || jsonb_build_object(
          'p_cursor', logloom_private.encode_cursor(array['tail', '1', null])
        );
      end if;
      v_answer := '';
      for v_page in 1..3 loop
        set local role service_role;
        v_text := pg_temp.answer(v_scope, v_call ->> 0, v_parameters);
        set local role none;
        v_answer := v_answer || v_text;
        exit when v_call ->> 0 not in ('search_logs', 'tail_logs', 'export_logs') or v_text !~ '^{'
          or v_text::jsonb ->> 'next_cursor' is null;
        v_parameters := v_parameters || jsonb_build_object(
          'p_cursor', v_text::jsonb ->> 'next_cursor'
        );
      end loop;
      v_answers := v_answers || v_answer;
    end loop;
    return v_answers;
  end;
  $$;
`;
