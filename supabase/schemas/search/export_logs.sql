-- Builds SQL for a CSV cell (RFC 4180). p_value is an SQL expression. A text that looks like a
-- formula gets an apostrophe, because a spreadsheet would run the formula. Most cells need no
-- quotes; strpos finds that out faster than a regex.
create function logloom_private.csv_cell_sql(p_value text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Returns the columns of a CSV export: ts and id, then the fields of the query's stage "fields".
-- Without this stage, all fields. sql uses the alias l.
create function logloom_private.csv_columns(p_fields jsonb)
returns table (name text, sql text)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
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
$$;

-- Returns the first cursor that an export passes to read_log_page. Its received_before is the
-- watermark: every record received earlier is visible.
create function logloom_private.export_cursor(
  p_range tstzrange,
  p_order text
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cursor logloom_private.page_cursor;
begin
  v_cursor."order" := p_order;
  v_cursor.ts := case p_order when 'asc' then lower(p_range) else upper(p_range) end;
  v_cursor.id := '00000000-0000-0000-0000-000000000000';
  v_cursor.ts_from := lower(p_range);
  v_cursor.ts_to := upper(p_range);
  v_cursor."now" := now();
  v_cursor.received_before := coalesce(
    logloom_private.watermark((logloom_private.queue_state()).oldest_received_at), 'epoch'
  );
  return logloom_private.encode_page_cursor(v_cursor);
end;
$$;

-- Moves the cursor of an export to just after the record (ts,id) in p_after.
create function logloom_private.cursor_after(p_cursor text, p_after text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cursor logloom_private.page_cursor;
  v_after constant text[] := regexp_match(
    p_after, '^([^,]{1,40}),([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$'
  );
  v_ts constant timestamptz := logloom_private.iso_instant(v_after[1]);
begin
  if p_after is null then
    return p_cursor;
  elsif v_ts is null then
    perform logloom_private.refuse('search.place_is_invalid');
  end if;
  v_cursor := logloom_private.decode_page_cursor(p_cursor);
  -- A relative range may have moved past p_after. Records after p_after would then be missing.
  if not v_ts <@ tstzrange(v_cursor.ts_from, v_cursor.ts_to) then
    perform logloom_private.refuse('search.place_is_outside');
  end if;
  v_cursor.ts := v_ts;
  v_cursor.id := v_after[2];
  return logloom_private.encode_page_cursor(v_cursor);
end;
$$;

create function logloom_private.read_log_export(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_format text,
  p_order text,
  p_cursor text,
  p_after text
)
returns public.logloom_log_export
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set jit = off
as $$
-- definer because no API role may read the state of the queue
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
  v_plan := (logloom_private.parse_query(p_query_dsl)).plan;
  if p_after is not null and v_plan ? 'limit' then
    perform logloom_private.refuse('search.place_meets_limit');
  end if;
  v_order := coalesce(
    p_order,
    case when (v_plan -> 'sort' -> 0 -> 'descending')::boolean then 'desc' end, 'asc'
  );
  -- Without a cursor, a relative start has moved on since the first page. In descending order the
  -- export would lose its last records.
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
    -- Names need no apostrophe: a spreadsheet does not run @name as a formula.
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
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.export_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_format text default null,
  p_order text default null,
  p_cursor text default null,
  p_after text default null
)
returns public.logloom_log_export
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_export(
    null, p_query_dsl, p_ts_from, p_ts_to, p_format, p_order, p_cursor, p_after
  );
end;
$$;

comment on function public.export_logs(text, text, text, text, text, text, text) is
  'Returns a page of an export: {text, records, cursor, next_cursor, logs}. Serves GET '
  'logloom-read/v1/export. The export has the records that were received before it began. '
  'p_format: ndjson (default; a record a line, as in search_logs), csv (RFC 4180), or json (the '
  'records are in logs). p_order: asc (default) or desc. p_cursor: next_cursor of the page before. '
  'To continue after a lost page, send any page''s cursor, and as p_after <ts>,<id> of the last '
  'record received. Errors: PT400, PT401, PT403, PT408, PT429.';
