import postgres from "postgres";
import type { Event } from "./event.ts";
import { now } from "./arbitrary.ts";

/** What the database makes of a query: the numbers of the events that match, or where it is wrong. */
export interface Outcome {
  position?: number;
  message?: string;
  matches?: number[];
  /** The fields to group by and the value, a row for each group. */
  groups?: [...(string | null)[], number | null][];
  sqlstate?: string;
}

export interface Database extends AsyncDisposable {
  run(events: Event[], queries: string[]): Promise<Outcome[]>;
}

/** Runs queries over events in a temporary table, a batch in one round trip. */
export async function openDatabase(): Promise<Database> {
  const url = Deno.env.get("LOGLOOM_DB_URL");
  if (!url) throw new Error("LOGLOOM_DB_URL is not set");
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  await sql.unsafe(setup);
  return {
    async run(events, queries) {
      const rows = events.map((event, n) => ({
        ...event,
        n,
        ts: timestamp(event.ts),
        received_at: timestamp(event.received_at),
      }));
      const [{ outcomes }] = await sql`
        select pg_temp.run_queries(
          ${JSON.stringify(rows)}::text::jsonb, ${queries}::text[], ${timestamp(now)}::timestamptz
        ) as outcomes`;
      return outcomes as Outcome[];
    },
    [Symbol.asyncDispose]: () => sql.end({ timeout: 1 }),
  };
}

function timestamp(us: number): string {
  const micros = ((us % 1e6) + 1e6) % 1e6;
  const seconds = new Date((us - micros) / 1000).toISOString().slice(0, 19);
  return `${seconds}.${String(micros).padStart(6, "0")}Z`;
}

const setup = `
  create temporary table logs (like app.logs);
  alter table logs add column n integer;
  alter table logs alter column tenant_id drop not null, alter column arrival drop not null;
  create function pg_temp.run_queries(p_events jsonb, p_queries text[], p_now timestamptz)
  returns jsonb
  language plpgsql
  as $$
  declare
    v_query private.compiled_query;
    v_outcomes jsonb := '[]';
    v_matches jsonb;
    v_groups jsonb;
    v_detail text;
    v_source text;
  begin
    truncate logs;
    insert into logs select (jsonb_populate_record(null::logs, e)).* from jsonb_array_elements(p_events) e;
    foreach v_source in array p_queries loop
      begin
        v_query := private.compile_query(v_source, p_now);
        v_groups := null;
        execute 'select jsonb_agg(l.n order by l.n) from logs l where ' || v_query.filter
        into v_matches;
        if v_query.aggregate is not null then
          execute 'select jsonb_agg(r) from (select jsonb_build_array('
            || array_to_string(v_query.by_sql || v_query.aggregate_sql, ', ')
            || ') as r from logs l where ' || v_query.filter
            || case when v_query.by_sql = '{}' then '' else ' group by '
              || array_to_string(v_query.by_sql, ', ') end || ') q'
          into v_groups;
          v_groups := coalesce(v_groups, '[]');
        end if;
        v_outcomes := v_outcomes || jsonb_build_object(
          'matches', coalesce(v_matches, '[]'), 'groups', v_groups
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
