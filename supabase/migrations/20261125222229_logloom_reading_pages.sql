-- Pages of exports are larger, and may be JSON.

set local check_function_bodies = off;

do $$
begin
  -- The table has one row, which everything reads.
  perform set_config('lock_timeout', '30s', true);
  -- No table has a column of this type.
  alter type public.logloom_log_export add attribute logs json;
  alter table logloom_private.settings
    add column export_page_records integer not null default 2500,
    add constraint settings_export_page_records_is_positive check (export_page_records >= 1);
  perform set_config('lock_timeout', '0', true);
end;
$$;

CREATE OR REPLACE FUNCTION logloom_private.csv_cell_sql (
  p_value text
)
  RETURNS text
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_cell constant text := 'case when %1$s is null then '''' '
    'when strpos(e''=+@-\t\r\n＝＋－＠'', left(%1$s, 1)) = 0 and strpos(%1$s, ''"'') = 0 '
    'and strpos(%1$s, '','') = 0 and strpos(%1$s, e''\n'') = 0 and strpos(%1$s, e''\r'') = 0 '
    'then %1$s when %1$s ~ ''^[-+]?[0-9.]+$'' then %1$s '
    'when %1$s ~ ''^[=+@\t\r\n＝＋－＠-]'' '
    'then ''"'''''' || replace(%1$s, ''"'', ''""'') || ''"'' '
    'else ''"'' || replace(%1$s, ''"'', ''""'') || ''"'' end';
begin
  return case when p_value ~ '^l\.[a-z_]+$' then format(v_cell, p_value)
    else format('(select ' || v_cell || ' from (select %2$s as v offset 0) c)', 'c.v', p_value)
  end;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.csv_columns (
  p_fields jsonb
)
  RETURNS TABLE (
    name text,
    sql  text
  )
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select c.name, c.sql
  from (
    select 0 as part, f.place::bigint as n, f.name, 'to_json(l.' || f.name || ') #>> ''{}''' as sql
    from (values (1, 'ts'), (2, 'id')) f (place, name)
    union all
    select 1, f.n, f.field ->> 'name', logloom_private.query_group_sql(f.field, 'l')
    from jsonb_array_elements(p_fields) with ordinality f (field, n)
    where f.field ->> 'field' not in ('ts', 'id')
    union all
    select
      1, f.shown, f.name,
      case f.type
        when 'text' then 'l.' || f.name
        when 'jsonb' then 'l.' || f.name || '::text'
        else 'to_json(l.' || f.name || ') #>> ''{}'''
      end
    from unnest(logloom_private.record_fields()) f
    where p_fields is null and f.shown is not null and f.name not in ('ts', 'id', 'tenant_id')
  ) c
  order by c.part, c.n;
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.cursor_after (
  p_cursor text,
  p_after  text
)
  RETURNS text
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
declare
  v_parts text[];
  v_after constant text[] := regexp_match(
    p_after, '^([^,]{1,40}),([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'
  );
begin
  if p_after is null then
    return p_cursor;
  elsif v_after is null or not pg_input_is_valid(v_after[1], 'timestamptz') then
    perform logloom_private.refuse('search.place_is_invalid');
  end if;
  v_parts := logloom_private.decode_cursor(
    p_cursor,
    '^(page (?:desc|asc)) \d{1,18} (\d{1,18}) (\d{1,18}) (\d{1,18}) [0-9a-f-]{36}(.*)$'
  );
  -- In a range that has moved on since, records after that place may be missing.
  if not v_after[1]::timestamptz <@ tstzrange(
    'epoch'::timestamptz + (v_parts[2] || ' microseconds')::interval,
    'epoch'::timestamptz + (v_parts[3] || ' microseconds')::interval
  ) then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  return logloom_private.encode_cursor(array[
    v_parts[1], (extract(epoch from v_after[1]::timestamptz) * 1000000)::bigint::text,
    v_parts[2], v_parts[3], v_parts[4], v_after[2] || v_parts[5]
  ]);
end;
$function$;

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
  v_columns text[];
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
    array_agg(logloom_private.csv_cell_sql(quote_literal(c.name))),
    array_agg(logloom_private.csv_cell_sql(c.sql))
  into v_columns, v_cells
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
    execute 'select ' || array_to_string(v_columns, ' || '','' || ') || ' || e''\r\n'' || $1'
    into v_export.text
    using v_export.text;
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

CREATE OR REPLACE FUNCTION logloom_private.read_log_page (
  p_scope     logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from   text,
  p_ts_to     text,
  p_limit     integer,
  p_cursor    text,
  p_order     text
)
  RETURNS public.logloom_log_page
  LANGUAGE plpgsql
  STABLE
  SECURITY DEFINER
  SET search_path TO 'pg_catalog', 'pg_temp'
  SET jit TO 'off'
  AS $function$
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'search_logs');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit integer := logloom_private.list_limit(
    p_limit, 'search.page_limit_is_out_of_range'
  );
  v_order text;
  v_now timestamptz := now();
  v_first tstzrange;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_received jsonb;
  v_left integer;
  v_after text[];
  v_times timestamptz[];
  v_page record;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) (\d{1,18}) (\d{1,18}) (\d{1,18})'
        || ' ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?: (\d{1,6}))?(?: w(\d{1,18}))?$'
    );
    v_times := array(
      select 'epoch'::timestamptz + (m || ' microseconds')::interval from unnest(v_after[2:5]) m
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_first := tstzrange(v_times[2], v_times[3]);
    v_now := v_times[4];
  end if;
  if v_after[8] is not null then
    -- Of an export: what was received before it began.
    v_received := logloom_private.query_leaf(
      logloom_private.query_field('received_at', 1),
      jsonb_build_object('test', 'within', 'bounds', jsonb_build_object(
        'to', 'epoch'::timestamptz + (v_after[8] || ' microseconds')::interval
      ))
    );
    v_scope.filter := case when v_scope.filter is null then v_received
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_received)
      ) end;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to, v_first);
  v_query := logloom_private.search_query(v_scope, p_query_dsl, v_now, 'records');
  -- That of the query's sort, or p_order.
  v_order := case (v_query.plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
  if p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  elsif v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  v_order := coalesce(v_order, p_order, 'desc');
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  if p_limit is null and v_after[8] is not null then
    v_limit := (select s.export_page_records from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order, v_times[1], v_after[6]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(
      array['page', v_order]
        || array(
          select (extract(epoch from t) * 1000000)::bigint::text
          from unnest(array[v_page.last_ts, lower(v_range), upper(v_range), v_now]) t
        )
        || array[v_page.last_id::text, v_left::text, 'w' || v_after[8]]
    );
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    array(
      select w
      from jsonb_populate_recordset(null::public.logloom_query_warning, v_query.warnings) w
    )
  )::public.logloom_log_page;
exception when query_canceled or lock_not_available or connection_exception or admin_shutdown
  or internal_error
then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_page(
    p_scope, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.search_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('search.page_limit_is_out_of_range', 400, 'Invalid p_limit: 1 to %s',
      'Page with p_cursor for more.', 'A page has 1 to 1000 items.'),
    ('search.range_is_empty', 400, 'Invalid range: p_ts_from must be before p_ts_to',
      'p_ts_from is inclusive, p_ts_to exclusive and now where it is left out.', null),
    ('search.log_not_found', 404, 'Log record not found',
      'It may be on its way still, or past its retention.',
      'No such id in this tenant, not written yet, or past its retention.'),
    ('search.took_too_long', 408, 'The search took too long',
      'Narrow it: a shorter range of time, or a filter by level, service or req_id.',
      '15 seconds. Narrow the range or the query.'),
    ('search.too_many_of_this_tenant', 429, 'Too many searches of this tenant are running',
      'Wait for one to end; the plan says how many may run at once.',
      'More at once than the plan''s `concurrent_searches`; `Retry-After`.'),
    ('search.too_many_are_running', 429, 'Too many searches are running', 'Try again in a moment.',
      'Those of all tenants hold their share of the connections.'),
    ('search.range_leaves_the_years', 400, 'Invalid range: only the years 1970 to 9999',
      'Send both as ISO 8601, such as 2026-11-21T10:00:00Z.', null),
    ('search.cursor_is_invalid', 400, 'Invalid p_cursor',
      'Send next_cursor of the page before, unchanged, or none to begin.',
      'It is not a `next_cursor` of this operation.'),
    ('search.cursor_has_another_order', 400, 'Invalid p_cursor: it belongs to the other p_order',
      'Send the p_order of the page before.', '`desc` and `asc` have cursors of their own.'),
    ('search.cursor_lies_ahead', 400,
      'Invalid p_cursor: it is newer than the database',
      'The database was restored from before it. Start again without p_cursor.', null),
    ('search.order_is_unknown', 400, 'Invalid p_order: desc or asc',
      'desc gives the newest records first.', null),
    ('search.backlog_is_out_of_range', 400, 'Invalid p_backlog: 0 to %s',
      'So many of the newest records a tail begins with.',
      '`tail_logs` begins with so many records.'),
    ('search.buckets_are_out_of_range', 400, 'Invalid p_buckets: 1 to %s',
      'The width of a bucket follows from the range and p_buckets.',
      'A histogram has 1 to 1000 buckets.'),
    ('search.changes_are_out_of_range', 400, 'Invalid p_limit: 1 to 100',
      'The most surprising changes come first.', '`log_changes` has at most 100 changes.'),
    ('search.field_is_hidden', 400, 'The field %s is hidden from you',
      'Leave it out. Who gave you access decides what is hidden.', null),
    ('search.format_is_unknown', 400, 'Invalid p_format: ndjson, csv or json',
      'Left out it is ndjson.', null),
    ('search.place_is_invalid', 400, 'Invalid p_after: <ts>,<id> of a record',
      'Send both as the last line that you have holds them.', null),
    ('search.place_is_outside', 400, 'Invalid p_after: it lies outside the range',
      'Name the range in full as it was when the export began, or send its cursor with it.',
      'The default range and `now-1h` move on.'),
    ('search.place_meets_limit', 400, 'Invalid p_after: the query has a limit',
      'Leave limit out, or go on by next_cursor alone.', 'A limit counts from the beginning.'),
    ('search.context_is_out_of_range', 400, 'Invalid p_before or p_after: 0 to %s',
      'Leave them out for 20 records on each side.', null),
    ('search.query_gives_no_records', 400,
      'Invalid p_query_dsl: this operation returns records, not %s',
      'Leave out the bar and what follows, or ask log_stats.', null),
    ('search.takes_no_stage', 400, 'Invalid p_query_dsl: %s takes no stage %s',
      'Leave the stage out.', null),
    ('search.order_is_another', 400, 'Invalid p_order: p_query_dsl sorts by ts %s',
      'Leave out one of them.', null),
    ('search.stage_met_its_bound', 400, 'The stage %s reached its limit of %s %s',
      'Narrow the filter before it, or the range of time.', null),
    ('search.too_many_validations', 429, 'Too many queries of this tenant are being validated',
      'Wait for one to end.',
      '`validate_query`, and saving a query longer than `quick_query_bytes`: more at once than '
        '`concurrent_validations`.'),
    ('search.block_format_is_unknown', 501, 'Blocks of format %s cannot be read by this version',
      'A later version of Logloom has written them: install it again.',
      'A later version has sealed these records: the database was brought back to an older one.'),
    ('search.records_are_away', 504, 'The server that has these records does not answer',
      'Try again in a moment. What is sent meanwhile is kept.',
      'Records are sharded, or what is stored took 8 s to sum up; `Retry-After`.')
  ) e (name, status, message, hint, explanation);
end;
$function$;

COMMENT ON COLUMN "logloom_private"."settings"."export_page_records" IS 'The most records of a page of export_logs.';

COMMENT ON FUNCTION "public"."export_logs"(text, text, text, text, text, text, text) IS 'A page of an export: {text, records, cursor, next_cursor, logs}, for GET logloom-read/v1/export. p_format: ndjson (the default), a record as search_logs has it in each line of text; csv (RFC 4180); or json, the records in logs. p_order: asc (the default) or desc. It holds what was received when it began and visible to its end. p_cursor: next_cursor of the page before, or cursor of any page with p_after: <ts>,<id> of the last record that was received. Errors: PT400, PT401, PT403, PT408, PT429.';

COMMENT ON TYPE "public"."logloom_log_export" IS 'A page of an export: text, its lines, each with its end, or logs, its records; records, how many they are. cursor: of its beginning; next_cursor: of the page after it, null where there is none.';

select logloom_private.finish_migration();
