-- Everything since the last release. npm run migration writes this file: change supabase/schemas,
-- supabase/unreleased/before.sql or supabase/unreleased/after.sql instead.

set local search_path = pg_catalog, pg_temp;

SET local check_function_bodies = off;

CREATE OR REPLACE FUNCTION logloom_private.read_log_export (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_format    text,
  p_order     text,
  p_cursor    text,
  p_after     text
)
  RETURNS public.logloom_log_export
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET "TimeZone" TO 'UTC'
  SET jit TO 'off'
  AS $function$
-- definer because no API role knows what the writer has written
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'export_logs');
  v_page public.logloom_log_page;
  v_export public.logloom_log_export;
  v_is_first constant boolean := p_cursor is null and p_after is null;
  v_plan jsonb;
  v_order text;
  v_header text;
  v_cells text[];
begin
  if p_format not in ('ndjson', 'csv', 'json') then
    perform logloom_private.refuse('search.format_is_unknown');
  elsif p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  v_plan := (logloom_private.compile_query(p_query_dsl)).plan;
  if p_after is not null and v_plan ? 'limit' then
    perform logloom_private.refuse('search.place_meets_limit');
  end if;
  v_order := coalesce(
    p_order,
    case when (v_plan -> 'sort' -> 0 -> 'descending')::boolean then 'desc' end, 'asc'
  );
  -- Of what comes last in a descending export, as much is missing as the range has moved on.
  if p_after is not null and p_cursor is null and v_order = 'desc'
    and (p_ts_from ~ '^\s*[^n\s]') is not true then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  v_export.cursor := coalesce(
    p_cursor,
    logloom_private.export_cursor(
      logloom_private.search_range(p_ts_from, p_ts_to), v_order
    )
  );
  -- By itself it opens no other records than that does.
  v_page := logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, null,
    logloom_private.cursor_after(v_export.cursor, p_after), v_order
  );
  v_export.records := cardinality(v_page.logs);
  v_export.next_cursor := v_page.next_cursor;
  if p_format = 'json' then
    v_export.text := '';
    select coalesce(json_agg(l), '[]') into v_export.logs from unnest(v_page.logs) l;
    return v_export;
  elsif p_format is distinct from 'csv' then
    select coalesce(string_agg(to_json(r.l)::text || e'\n', '' order by r.n), '')
    into v_export.text
    from (select l, row_number() over () as n from (select unnest(v_page.logs) as l) u) r;
    return v_export;
  end if;
  select
    -- A name is no formula, though an attribute's begins with an at sign.
    string_agg(
      case when c.name ~ '[",\r\n]' then '"' || replace(c.name, '"', '""') || '"' else c.name end,
      ','
    ),
    array_agg(logloom_private.csv_cell_sql(c.sql))
  into v_header, v_cells
  from logloom_private.csv_columns(v_plan -> 'fields') c;
  execute format(
    'select coalesce(string_agg(%s || e''\r\n'', '''' order by l.n), '''') '
      'from unnest($1) with ordinality l (%s, n)',
    array_to_string(v_cells, ' || '','' || '),
    (
      select string_agg(f.name, ', ' order by f.shown)
      from unnest(logloom_private.record_fields()) f
      where f.shown is not null
    )
  )
  into v_export.text
  using v_page.logs;
  if v_is_first then
    v_export.text := v_header || e'\r\n' || v_export.text;
  end if;
  return v_export;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_export(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, p_format, p_order, p_cursor, p_after
  );
end;
$function$;

select logloom_private.finish_migration();
