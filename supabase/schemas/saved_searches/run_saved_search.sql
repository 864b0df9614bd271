create type public.logloom_saved_search_run as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  stats public.logloom_log_stat[]
);

comment on type public.logloom_saved_search_run is
  'The result of a saved search: a page of records or, if the query aggregates, stats.';

create function logloom_private.read_saved_search(
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer,
  p_cursor text
)
returns public.logloom_saved_search_run
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may call the compiler
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.search_query(null, p_query_dsl, now(), 'any');
  v_range tstzrange;
  v_run public.logloom_saved_search_run;
begin
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    select p.logs, p.next_cursor, p.ts_from, p.ts_to
    into v_run.logs, v_run.next_cursor, v_run.ts_from, v_run.ts_to
    from logloom_private.read_log_page(
      null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    ) p;
    return v_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_run.logs := '{}';
  v_run.ts_from := lower(v_range);
  v_run.ts_to := upper(v_range);
  v_run.stats := array(
    select s
    from logloom_private.read_log_stats(null, p_query_dsl, p_ts_from, p_ts_to, p_limit) s
  );
  return v_run;
end;
$$;

-- Counts a run of a saved search that the caller may read.
create function logloom_private.note_saved_search_run(p_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the caller may not update a colleague's shared search
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  update logloom.saved_searches s
  set run_count = s.run_count + 1, last_run_at = now()
  where s.id = p_id
    and s.tenant_id = v_tenant_id
    and (s.is_shared or s.created_by = logloom_private.current_user_id());
end;
$$;

create function public.run_saved_search(
  p_id uuid default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_cursor text default null
)
returns public.logloom_saved_search_run
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
declare
  v_query_dsl text;
  v_run public.logloom_saved_search_run;
begin
  select s.query_dsl into v_query_dsl from public.get_saved_search(p_id) s;
  v_run := logloom_private.read_saved_search(
    v_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor
  );
  -- Later pages belong to the run of the first page.
  if p_cursor is null then
    perform logloom_private.note_saved_search_run(p_id);
  end if;
  return v_run;
end;
$$;

comment on function public.run_saved_search(uuid, text, text, integer, text) is
  'Runs a saved search of the caller, or one that a colleague shared, and counts the run. Answers '
  'like search_logs. If the query aggregates, stats has the rows of log_stats. Errors: PT400, '
  'PT401, PT404, PT408.';
