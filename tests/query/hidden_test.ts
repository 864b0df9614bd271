import { deepStrictEqual, ok } from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { openDatabase } from "../support/database.ts";
import { randomOf } from "../support/random.ts";
import { tell } from "../support/tally.ts";
import { event, query } from "./arbitrary.ts";
import { timestamp } from "./database.ts";
import { type Event, isRecord, type Json } from "./event.ts";

// Two data sets that differ in hidden values alone answer byte for byte alike: random queries of
// every reading operation (2,000 in the long trials), each over rows, and over blocks and rows,
// which answer alike as well.
// Half of them name a hidden field; without the scope these answer differently, or the test would
// show nothing. The hidden values differ in length (by 1 to 100,000), type and number.
// A run is repeated by its seed: QUERY_SEED=…; QUERY_COUNT says how many of each scope.

const seed = Number(Deno.env.get("QUERY_SEED") ?? Math.floor(Math.random() * 2 ** 31));
const queriesOfEach = Number(Deno.env.get("QUERY_COUNT") ?? 200);
const records = 120;
const tenant = "hidden-values";

interface Hidden {
  /** As the scope names them. */
  readonly fields: readonly string[];
  /** Each way in which a query names one, with what it holds in a record. */
  readonly named: readonly (readonly [string, (event: Event) => Json | undefined])[];
  /** What a view that hides them lets through, as a query. */
  readonly filter: string | null;
  /** The event with other values of them. */
  readonly fill: (event: Event, value: () => Json, text: () => string | null) => Event;
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
    filter: null,
    fill: (event, value, text) => ({
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
    filter: "level:* OR -service:worker",
    fill: (event, value, text) => ({
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
];

function memberOf(value: Json | undefined, key: string): Json | undefined {
  return isRecord(value) ? value[key] : undefined;
}

/** Attributes without some keys, and what flat keys have below them. */
function without(attrs: Event["attrs"], ...keys: string[]): { [key: string]: Json } {
  return Object.fromEntries(
    Object.entries(attrs ?? {}).filter(([key]) =>
      !keys.some((hidden) => key === hidden || key.startsWith(`${hidden}.`))
    ),
  );
}

type Call = readonly [operation: string, parameters: { [name: string]: unknown }];

const range = { p_ts_from: "2026-11-17T00:00:00Z", p_ts_to: "2026-11-24T00:00:00Z" };
/** With as much before it. */
const halves = { p_ts_from: "2026-11-20T12:00:00Z", p_ts_to: "2026-11-24T00:00:00Z" };

/** By how many letters the hidden texts of a record are longer in one set than in the other. */
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
    return hidden.fill(event, value, () => random(6) === 0 ? null : text());
  });
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, (c) => `\\${c}`)}"`;
}

/** Calls that name a hidden field, with values that one of the sets holds. */
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

/** Calls that name none, any text and what lies around a hidden attribute included. */
function otherCalls(hidden: Hidden, sets: Event[][], count: number, seed: number): Call[] {
  const random = randomOf(seed);
  const sources = fc.sample(query, { seed, numRuns: count });
  return sources.map((source, n): Call => {
    const [, valueOf] = hidden.named[random(hidden.named.length)];
    const value = valueOf(sets[random(2)][random(records)]);
    const text = quoted(String(value ?? "x").slice(0, 20));
    const asked = [
      source,
      source,
      `any:${text}`,
      `-any:${text}`,
      `level:error OR any:${text}*`,
      `any:~"[0-9]x[0-9]"`,
      "",
      "level:error",
      "attrs.http:*",
    ][random(9)];
    const filter = { p_query_dsl: asked };
    return ([
      ["search_logs", { ...filter, ...range, p_limit: 1 + random(60), p_order: "asc" }],
      ["search_logs", { ...filter, ...range, p_limit: 1 + random(60) }],
      ["log_stats", { p_query_dsl: `${asked} | count() by level`, ...range }],
      ["log_stats", { p_query_dsl: `${asked} | sum(attrs.b) by service`, ...range }],
      ["log_stats", { p_query_dsl: `${asked} | count() by attrs.http`, ...range }],
      ["log_stats", { p_query_dsl: `${asked} | patterns`, ...range }],
      ["log_series", { p_query_dsl: `${asked} | count() by service`, ...range }],
      ["log_histogram", { ...filter, ...range }],
      ["log_overview", { ...filter, ...range }],
      ["list_log_fields", { ...filter, ...range }],
      ["tail_logs", { ...filter, p_cursor: "first", p_limit: 1 + random(50) }],
      ["tail_logs", { ...filter, p_backlog: 10 }],
      ["get_log", { p_id: idOf(random(records)) }],
      ["get_log_context", { p_id: idOf(random(records)), p_before: random(9), p_after: 5 }],
      ["validate_query", filter],
      ["export_logs", { ...filter, ...range, p_order: "desc" }],
      ["export_logs", { p_query_dsl: `${asked} | fields level, attrs.http`, ...range }],
      ["export_logs", { ...filter, ...range, p_format: "csv" }],
      ["log_changes", { ...filter, ...halves }],
      ["list_alert_rules", {}],
      ["list_alert_history", {}],
      ["list_saved_searches", {}],
    ] satisfies Call[])[n % 22];
  });
}

function idOf(n: number): string {
  return `018f0000-0000-7000-8000-00000000${n.toString(16).padStart(4, "0")}`;
}

for (const [n, hidden] of scopes.entries()) {
  Deno.test(`hidden values change no answer, ${hidden.fields}, seed ${seed + n}`, async () => {
    const rows = await compareSets(hidden, false, seed + n);
    const blocks = await compareSets(hidden, true, seed + n);
    rows.forEach(({ call, answer }, at) =>
      deepStrictEqual(
        [answer.withoutCursors, answer.begins],
        [blocks[at].answer.withoutCursors, blocks[at].answer.begins],
        `rows and blocks: ${call[0]} ${call[1].p_query_dsl}`,
      )
    );
  });
}

/** What is kept of an answer: all of them whole would not fit into memory. */
interface Kept {
  readonly digest: string;
  /** Cursors hold the instant of their transaction. */
  readonly withoutCursors: string;
  readonly begins: string;
}

function kept(answer: string): Kept {
  const alike = answer.replaceAll(/"(next_)?cursor":"[^"]*"/g, '"$1cursor":"…"');
  return {
    digest: digestOf(answer),
    withoutCursors: digestOf(alike),
    begins: alike.slice(0, 300),
  };
}

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

interface Answer {
  readonly call: Call;
  readonly answer: Kept;
}

async function compareSets(hidden: Hidden, sealed: boolean, seed: number): Promise<Answer[]> {
  const visible = fc.sample(event, { seed, numRuns: records });
  const sets = [0, 1].map((set) => eventsOf(hidden, visible, seed, set));
  const longer = visible.map((_, n) => difference(n, seed));
  deepStrictEqual([Math.min(...longer), Math.max(...longer)], [1, 100_000]);
  const naming = namingCalls(hidden, sets, queriesOfEach / 2, seed);
  const calls = [...naming, ...otherCalls(hidden, sets, queriesOfEach / 2, seed)];
  await using sql = openDatabase(undefined, 1);
  const answers = { scoped: [] as Kept[][], open: [] as Kept[][] };
  await sql.begin(async (sql) => {
    await sql.unsafe(setup);
    const operations = await sql`
      select o.operation from logloom_private.reading_operations() o order by 1`;
    deepStrictEqual(
      [...new Set(calls.map(([operation]) => operation))].sort(),
      operations.map(({ operation }) => operation),
    );
    for (const events of sets) {
      await sql.savepoint(async (sql) => {
        const rows = events.map((event, n) => ({
          ...event,
          n,
          ts: timestamp(event.ts),
          received_at: timestamp(event.received_at),
        }));
        await sql`select pg_temp.fill(${JSON.stringify(rows)}::text::jsonb, ${sealed})`;
        const ask = async (
          asked: readonly Call[],
          filter: string | null,
          fields: string[] | null,
        ) => {
          const found: Kept[] = [];
          for (let n = 0; n < asked.length; n += 50) {
            const some = JSON.stringify(asked.slice(n, n + 50));
            const [{ answers }] = await sql`
              select pg_temp.ask(${some}::text::jsonb, ${filter}, ${fields}) as answers`;
            found.push(...(answers as string[]).map(kept));
          }
          return found;
        };
        answers.scoped.push(await ask(calls, hidden.filter, [...hidden.fields]));
        // Whether the sets differ enough is told by either.
        if (!sealed) answers.open.push(await ask(naming, null, null));
        throw nothingStays;
      }).catch(ignoreNothingStays);
    }
    throw nothingStays;
  }).catch(ignoreNothingStays);
  calls.forEach((call, n) =>
    deepStrictEqual(answers.scoped[0][n], answers.scoped[1][n], `${call[0]} ${call[1].p_query_dsl}`)
  );
  const refused =
    answers.scoped[0].filter(({ begins }) => begins.includes("is hidden from you")).length;
  const answered = answers.scoped[0].filter(({ begins }) => /^[[{]/.test(begins)).length;
  const failures = answers.scoped[0].concat(...answers.open).filter(({ begins }) =>
    !/^(?:[[{]|PT40[04] )/.test(begins)
  );
  deepStrictEqual(failures.slice(0, 3), []);
  console.log(
    `${calls.length} queries over ${sealed ? "blocks and rows" : "rows"}: ` +
      `${answered} answered alike, ${refused} refused`,
  );
  tell({ hiddenQueries: calls.length });
  deepStrictEqual(
    answers.scoped[0].slice(0, naming.length).filter((a) => !a.begins.startsWith("PT400")),
    [],
  );
  ok(refused >= naming.length * 0.95, "too few are refused for what they name");
  ok(answered >= calls.length / 5, "too few others are answered");
  if (!sealed) {
    const [one, other] = answers.open;
    const differing = naming.filter((_, n) => one[n].digest !== other[n].digest).length;
    console.log(`${differing} of ${naming.length} differ without the scope`);
    ok(differing >= naming.length * 0.9, "the sets are too much alike");
  }
  return calls.map((call, n) => ({ call, answer: answers.scoped[0][n] }));
}

const nothingStays = new Error("The transaction is rolled back.");
function ignoreNothingStays(error: unknown): void {
  if (error !== nothingStays) throw error;
}

const setup = `
  insert into logloom.tenants (tenant_id, plan_id) values ('${tenant}', 'pro');
  update logloom.plans set retention_days_default = 36500, retention_days_max = 36500;
  -- So that sizes would matter, and time does not.
  update logloom_private.settings
  set
    max_page_bytes = 100000, search_sample_bytes = 100000, search_page_time = '1 hour',
    tail_page_time = '1 hour';
  -- The writer runs meanwhile.
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
      -- Blocks of some 300 kB, so that their borders depend on what is hidden.
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
        -- Their counts stay, as where a day is sealed.
        delete from logloom.logs l where l.tenant_id = '${tenant}' and l.id = any(v_piece.ids);
      end loop;
    end if;
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
  -- Each answer with those of the two pages after it.
  create function pg_temp.ask(p_calls jsonb, p_filter text, p_hidden text[])
  returns text[]
  language plpgsql
  as $$
  declare
    v_scope constant logloom_private.reading_scope := row(
      '${tenant}', null, 'test',
      case when p_filter is not null then (logloom_private.compile_query(p_filter)).tree end,
      p_hidden, null
    )::logloom_private.reading_scope;
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
