-- Reads a page of records. jit is off: compiling a filter to machine code takes longer than it
-- saves.
create function logloom_private.read_log_page(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer,
  p_cursor text,
  p_order text
)
returns public.logloom_log_page
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because row-level security would keep filters from using indexes
declare
  v_scope logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'search_logs');
  v_limit integer := logloom_private.list_limit(p_limit, 'search.page_limit_is_out_of_range');
  v_order text;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_received jsonb;
  v_left integer;
  v_cursor logloom_private.page_cursor;
  v_page record;
  v_next_cursor text;
begin
  perform logloom_private.take_search_slot(v_scope);
  v_cursor := logloom_private.decode_page_cursor(p_cursor);
  v_cursor."now" := coalesce(v_cursor."now", now());
  if v_cursor.received_before is not null then
    v_received := logloom_private.query_leaf(
      logloom_private.query_field('received_at', 1),
      jsonb_build_object(
        'test', 'within', 'bounds', jsonb_build_object('to', v_cursor.received_before)
      )
    );
    v_scope.filter := case when v_scope.filter is null then v_received
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_received)
      ) end;
  end if;
  v_range := logloom_private.search_range(
    p_ts_from, p_ts_to,
    case when p_cursor is not null then tstzrange(v_cursor.ts_from, v_cursor.ts_to) end
  );
  v_query := logloom_private.search_query(v_scope, p_query_dsl, v_cursor."now", 'records');
  -- The order of the query's sort, or p_order
  v_order := case (v_query.plan -> 'sort' -> 0 -> 'descending')::boolean
    when true then 'desc' when false then 'asc' end;
  if p_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  elsif v_order <> p_order then
    perform logloom_private.refuse('search.order_is_another', v_order);
  end if;
  v_order := coalesce(v_order, p_order, 'desc');
  if v_cursor."order" <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  v_left := coalesce(v_cursor.records_left, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := logloom_private.list_limit_max();
  end if;
  if p_limit is null and v_cursor.received_before is not null then
    -- This is a page of export_logs.
    v_limit := 2500;
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_scope.tenant_id, v_query, v_range, v_limit, v_order, v_cursor.ts, v_cursor.id
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor."order" := v_order;
    v_cursor.ts := v_page.last_ts;
    v_cursor.id := v_page.last_id;
    v_cursor.ts_from := lower(v_range);
    v_cursor.ts_to := upper(v_range);
    v_cursor.records_left := v_left;
    v_next_cursor := logloom_private.encode_page_cursor(v_cursor);
  end if;
  if cardinality(v_page.logs) = 0 and v_next_cursor is null and p_cursor is null then
    v_query.warnings := v_query.warnings
      || logloom_private.hints_for_nothing(v_scope, p_query_dsl, v_range);
  end if;
  return row(
    v_page.logs, v_next_cursor, lower(v_range), upper(v_range),
    logloom_private.warnings_of(v_query)
  )::public.logloom_log_page;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
  return null;
end;
$$;

create function public.search_logs(
  p_query_dsl text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_cursor text default null,
  p_order text default null
)
returns public.logloom_log_page
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return logloom_private.read_log_page(
    null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$$;

comment on function public.search_logs(text, text, text, integer, text, text) is
  'Returns a page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last '
  'hour. p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). '
  'p_cursor: next_cursor of the page before. It keeps the range of the first page. A page of a '
  'long range, or of more than about 8 MB, may have fewer records than p_limit and still a '
  'next_cursor. Only the last page has next_cursor null. Errors: PT400, PT401, PT408 (took longer '
  'than 15 s).';
