import postgres from "postgres";
import type { Event, Json } from "./event.ts";
import { now } from "./random_queries.ts";

/** The database's result for a query: the indexes of matching events, or an error. */
export interface Outcome {
  position?: number;
  message?: string;
  matches?: number[];
  /** Rows of log_stats in order, if the query aggregates. */
  rows?: Row[];
  /** Records after the stages, if the query has stages without aggregates. */
  records?: Shown[];
  sqlstate?: string;
}

export interface Row {
  group: { [name: string]: string | null };
  values: { [name: string]: number | null };
  total: number;
}

/** The fields of a page's record that the tests compare. */
export interface Shown {
  id: string;
  ts: string;
  msg: string | null;
  service: string | null;
  attrs: { [key: string]: Json } | null;
}

/** The range of aggregates: it covers all events and is a whole number of minutes. */
export const range = { from: now - 86_400e6 * 30, to: now + 86_400e6 * 30 };

export interface Database extends AsyncDisposable {
  run(events: Event[], queries: string[]): Promise<Outcome[]>;
}

/** Runs queries over events in a temporary table, a batch in one round trip. */
export async function openDatabase(): Promise<Database> {
  const url = Deno.env.get("LOGLOOM_DB_URL");
  if (!url) throw new Error("LOGLOOM_DB_URL is not set");
  const sql = postgres(url, {
    max: 1,
    onnotice: () => {},
    // Numbers have all digits, as the pre-request check sets it.
    connection: { extra_float_digits: 1 },
  });
  await sql.unsafe(setup);
  const [{ tenant }] = await sql`select 'random-' || pg_backend_pid() as tenant`;
  return {
    async run(events, queries) {
      const rows = events.map((event, n) => ({
        ...event,
        write_seq: n,
        ts: timestamp(event.ts),
        received_at: timestamp(event.received_at),
      }));
      let outcomes: Outcome[] = [];
      await sql.begin(async (one) => {
        // Events have fixed days, so the plan keeps them for ever. Each connection has its own plan and tenant, so that
        // none waits for another.
        await one`insert into logloom.plans
          select (jsonb_populate_record(p, jsonb_build_object(
            'plan_id', ${tenant}::text, 'retention_days_default', 36500, 'retention_days_max', 36500
          ))).*
          from logloom.plans p
          where p.plan_id = 'pro'`;
        await one`insert into logloom.tenants (tenant_id, plan_id) values (${tenant}, ${tenant})`;
        [{ outcomes }] = await one<{ outcomes: Outcome[] }[]>`
          select pg_temp.run_queries(
            ${tenant}, ${JSON.stringify(rows)}::text::jsonb, ${queries}::text[], ${
          timestamp(now)
        }::timestamptz,
            tstzrange(${timestamp(range.from)}::timestamptz, ${timestamp(range.to)}::timestamptz)
          ) as outcomes`;
        throw nothingStays;
      }).catch((error) => {
        if (error !== nothingStays) throw error;
      });
      return outcomes;
    },
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  };
}

export function timestamp(us: number): string {
  const micros = ((us % 1e6) + 1e6) % 1e6;
  const seconds = new Date((us - micros) / 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros).padStart(6, "0")}Z`;
}

const nothingStays = new Error("The transaction is rolled back.");

const setup = `
  create temporary table logs (like logloom.logs);
  alter table logs alter column tenant_id drop not null;
  -- Replaces logloom.logs, which has no records of this tenant, by the events' table.
  create function pg_temp.over_events(p_sql text)
  returns text
  language sql
  return replace(
    replace(p_sql, 'from logloom.logs l ', 'from pg_temp.logs l '),
    '::timestamptz and false and ', '::timestamptz and true and '
  );
  create function pg_temp.run_queries(
    p_tenant_id text, p_events jsonb, p_queries text[], p_now timestamptz, p_range tstzrange
  )
  returns jsonb
  language plpgsql
  as $$
  declare
    v_query logloom_private.compiled_query;
    v_outcomes jsonb := '[]';
    v_matches jsonb;
    v_rows jsonb;
    v_records jsonb;
    v_detail text;
    v_source text;
  begin
    truncate logs;
    insert into logs
    select (jsonb_populate_record(null::logs, e || jsonb_build_object('tenant_id', p_tenant_id))).*
    from jsonb_array_elements(p_events) e;
    foreach v_source in array p_queries loop
      begin
        v_query := logloom_private.compile_query(v_source, p_now);
        v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree);
        v_rows := null;
        v_records := null;
        execute 'select jsonb_agg(l.write_seq order by l.write_seq) from logs l where ' || v_query.filter
        into v_matches;
        -- Stored counts do not include the temporary table. A query that reads msg does not use counts.
        v_query.tree := jsonb_build_object('type', 'and', 'items', jsonb_build_array(
          v_query.tree, '{"type": "all", "reads": ["msg"]}'::jsonb
        ));
        if v_query.plan ? 'aggregates' then
          execute 'select jsonb_agg(jsonb_build_object(''group'', r.g, ''values'', r.v, ''total'', r.t)) '
            || 'from (' || pg_temp.over_events(
              logloom_private.log_stats_sql(p_tenant_id, v_query, p_range, 1000)
            ) || ') r (g, value, v, t)'
          into v_rows;
          v_rows := coalesce(v_rows, '[]');
        elsif not v_query.plan ? 'patterns' and (v_query.plan ? 'rows' or v_query.plan ? 'fields') then
          v_query := logloom_private.bound_query(p_tenant_id, v_query, p_range);
          execute 'select jsonb_agg(jsonb_build_object(''id'', (r.l).id, ''ts'', (r.l).ts, '
            || '''msg'', (r.l).msg, ''service'', (r.l).service, ''attrs'', (r.l).attrs)) from ('
            || pg_temp.over_events(
              logloom_private.page_sql(
                v_query, logloom_private.first_records_sql(p_tenant_id, v_query, 1000, 'desc'),
                1000, 7340032
              )
            ) || ') r (l)'
          into v_records;
          v_records := coalesce(v_records, '[]');
        end if;
        v_outcomes := v_outcomes || jsonb_build_object(
          'matches', coalesce(v_matches, '[]'), 'rows', v_rows, 'records', v_records
        );
      exception when others then
        get stacked diagnostics v_detail = pg_exception_detail;
        v_outcomes := v_outcomes || jsonb_build_object(
          'sqlstate', sqlstate, 'message', sqlerrm,
          'position', case when sqlstate = 'PT400' then v_detail::jsonb -> 'position' end
        );
      end;
    end loop;
    return v_outcomes;
  end;
  $$;
`;
