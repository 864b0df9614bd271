-- Up to p_limit records, the newest or the oldest of the range first, those after p_ts and p_id
-- where they are given: each a composite, or column after column. Large ones are null, or with
-- p_fits those after p_bytes.
create function logloom_private.log_page_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz default null,
  p_id uuid default null,
  p_is_part boolean default false,
  p_bytes bigint default null,
  p_fits boolean default false
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_columns constant text := logloom_private.shown_columns_sql(p_query.plan -> 'fields');
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_filter text := p_query.filter;
  v_is_staged constant boolean := coalesce(jsonb_array_length(p_query.plan -> 'rows') > 0, false);
  v_reads integer := p_limit;
  v_order text;
  v_rows text;
begin
  if p_bytes is null then
    p_bytes := (select s.max_page_bytes from logloom_private.settings s);
  end if;
  -- The comparison of rows drives the index; the bound of ts leaves out partitions.
  if p_order = 'asc' and p_ts is not null then
    v_from := greatest(v_from, p_ts);
    v_filter := format('(l.ts, l.id) > (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  elsif p_ts is not null then
    v_to := least(v_to, p_ts + interval '1 microsecond');
    v_filter := format('(l.ts, l.id) < (%L::timestamptz, %L::uuid) and ', p_ts, p_id) || v_filter;
  end if;
  -- A filter after an extraction lets only some through.
  if v_is_staged and p_query.plan -> 'rows' @> '[{"stage": "where"}]' then
    v_reads := (select s.search_stage_records from logloom_private.settings s) + 1;
  end if;
  v_rows := logloom_private.first_records_sql(
    p_tenant_id, p_query, v_from, v_to, v_filter, v_reads, p_order, p_ts, p_id,
    p_is_part => p_is_part, p_bytes => case when not v_is_staged then p_bytes end
  );
  if p_fits or v_is_staged then
    v_order := format('l.ts %1$s, l.id %1$s', p_order);
    v_rows := case
      when v_is_staged then
        -- What is extracted comes on top of what a record has.
        logloom_private.fitting_sql(
          v_columns, '',
          'from (select l.*, 0 as write_seq '
            || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
            || format(' order by %s limit %s) l', v_order, p_limit),
          v_order, p_bytes,
          'octet_length(to_json(row(' || v_columns || ')::public.logloom_log_record)::text)'
        )
      else logloom_private.fitting_sql(v_columns, '', v_rows, v_order, p_bytes)
    end;
  else
    v_rows := logloom_private.small_sql(v_columns, '', v_rows, p_limit, p_bytes);
  end if;
  return v_rows;
end;
$$;

-- Part after part of the range, until the page is full or its time is up.
-- Up to p_limit records that a query finds, those after p_ts and p_id where they are given. It ends
-- with max_page_bytes, and begins no further part of the range after search_turn, so that it may
-- find fewer.
create function logloom_private.found_page(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid
)
returns logloom_private.found_page
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_parts tstzrange[];
  v_are_parts boolean := true;
  v_part tstzrange;
  v_sql text;
  v_deadline timestamptz;
  v_bytes bigint;
  v_before public.logloom_log_record[] := '{}';
  v_is_full boolean := false;
  v_page logloom_private.found_page;
begin
  v_page.logs := '{}';
  select clock_timestamp() + s.search_turn, s.max_page_bytes
  into v_deadline, v_bytes
  from logloom_private.settings s;
  if p_ts is not null and v_is_descending then
    v_to := least(v_to, p_ts + interval '1 microsecond');
  elsif p_ts is not null then
    v_from := greatest(v_from, p_ts);
  end if;
  v_parts := logloom_private.search_parts(p_tenant_id, v_from, v_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if jsonb_array_length(p_query.plan -> 'rows') > 0 and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(v_from, v_to)];
    v_are_parts := false;
  end if;
  foreach v_part in array v_parts loop
    v_sql := logloom_private.log_page_sql(
      p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_page.logs), p_order, p_ts, p_id,
      v_are_parts, v_bytes * (p_limit + 1 - cardinality(v_page.logs)) / (p_limit + 1)
    );
    -- Of a single part nothing is opened after it.
    if cardinality(v_parts) = 1 then
      v_page.logs := logloom_private.read_page(v_sql);
    else
      v_before := v_page.logs;
      v_page.logs := v_before || logloom_private.read_apart(v_sql);
    end if;
    if array_position(v_page.logs, null) is not null then
      -- What is extracted was measured at once.
      if jsonb_array_length(p_query.plan -> 'rows') > 0 is not true then
        v_page.logs := '{}';
        v_sql := logloom_private.log_page_sql(
          p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_before), p_order, p_ts, p_id,
          v_are_parts, v_bytes - logloom_private.answered_bytes(v_before), true
        );
        v_page.logs := v_before || case
          when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
          else logloom_private.read_apart(v_sql)
        end;
      end if;
      v_is_full := array_position(v_page.logs, null) is not null;
      v_page.logs := logloom_private.those_that_fit(v_page.logs);
    end if;
    if v_is_full or cardinality(v_page.logs) > p_limit then
      v_page.logs := v_page.logs[1:p_limit];
      v_page.last_ts := (v_page.logs[cardinality(v_page.logs)]).ts;
      v_page.last_id := (v_page.logs[cardinality(v_page.logs)]).id;
      return v_page;
    elsif clock_timestamp() > v_deadline and v_part <> v_parts[cardinality(v_parts)] then
      -- Before or after all records of the parts that are left.
      if v_is_descending then
        v_page.last_ts := lower(v_part);
        v_page.last_id := '00000000-0000-0000-0000-000000000000';
      else
        v_page.last_ts := upper(v_part) - interval '1 microsecond';
        v_page.last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      return v_page;
    end if;
  end loop;
  return v_page;
end;
$$;

-- Reading: a function for each operation

-- Compiling a filter to machine code takes far longer than it saves here: jit is off.
create function logloom_private.read_log_page(
  p_query_dsl text,
  p_ts_from timestamptz,
  p_ts_to timestamptz,
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
-- definer because a filter drives an index only where row-level security does not stand between
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit integer := logloom_private.page_limit(p_limit);
  v_order text := coalesce(p_order, 'desc');
  v_now timestamptz := now();
  v_from timestamptz := p_ts_from;
  v_to timestamptz := p_ts_to;
  v_range tstzrange;
  v_query logloom_private.compiled_query;
  v_left integer;
  v_after text[];
  v_page logloom_private.found_page;
  v_cursor text;
begin
  perform logloom_private.take_search_slot(v_tenant_id);
  if v_order not in ('desc', 'asc') then
    perform logloom_private.refuse('search.order_is_unknown');
  end if;
  if p_cursor is not null then
    v_after := logloom_private.decode_cursor(
      p_cursor,
      '^page (desc|asc) (\d{1,18}) ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})'
        || ' (\d{1,18}) (\d{1,18}) (\d{1,18})(?: (\d{1,6}))?$'
    );
    -- What the first page meant by now and by its range, so that no page moves away from it.
    v_from := coalesce(v_from, logloom_private.from_microseconds(v_after[4]::bigint));
    v_to := coalesce(v_to, logloom_private.from_microseconds(v_after[5]::bigint));
    v_now := logloom_private.from_microseconds(v_after[6]::bigint);
  end if;
  v_range := logloom_private.search_range(v_from, v_to);
  v_query := logloom_private.search_query(p_query_dsl, v_now, 'records');
  v_order := logloom_private.page_order(v_query.plan, p_order);
  if v_after[1] <> v_order then
    perform logloom_private.refuse('search.cursor_has_another_order');
  end if;
  -- What limit leaves to this page and those after it.
  v_left := coalesce(v_after[7]::integer, (v_query.plan -> 'limit')::integer);
  if p_limit is null and v_left is not null then
    v_limit := (select s.list_limit_max from logloom_private.settings s);
  end if;
  v_limit := least(v_limit, v_left);

  v_page := logloom_private.found_page(
    v_tenant_id, v_query, v_range, v_limit, v_order,
    logloom_private.from_microseconds(v_after[2]::bigint), v_after[3]::uuid
  );
  v_left := v_left - cardinality(v_page.logs);
  if v_page.last_id is not null and v_left is distinct from 0 then
    v_cursor := logloom_private.encode_cursor(array[
      'page', v_order, logloom_private.to_microseconds(v_page.last_ts)::text,
      v_page.last_id::text, logloom_private.to_microseconds(lower(v_range))::text,
      logloom_private.to_microseconds(upper(v_range))::text,
      logloom_private.to_microseconds(v_now)::text, v_left::text
    ]);
  end if;
  return row(
    v_page.logs, v_cursor, lower(v_range), upper(v_range),
    logloom_private.query_warnings(v_query.warnings)
  )::public.logloom_log_page;
exception
when query_canceled or lock_not_available then
  perform logloom_private.refuse_slow_search();
  return null;
when connection_exception or admin_shutdown or internal_error then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return logloom_private.read_log_page(
    p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, p_order
  );
end;
$$;

grant execute on function logloom_private.read_log_page(
  text, timestamptz, timestamptz, integer, text, text
) to authenticated, service_role;

-- The operations

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
    p_query_dsl, logloom_private.page_time('p_ts_from', p_ts_from, p_cursor),
    logloom_private.page_time('p_ts_to', p_ts_to, p_cursor), p_limit, p_cursor, p_order
  );
end;
$$;

comment on function public.search_logs(text, text, text, integer, text, text) is
  'A page of records that match p_query_dsl in [p_ts_from, p_ts_to), by default the last hour. '
  'p_order: desc (newest first, the default) or asc. p_limit 1 to 1000 (default 100). p_cursor: '
  'next_cursor of the page before; it keeps the range of the first page. A page of a long range '
  'or of large records (some 8 MB) may end early, with fewer records and a next_cursor: only null '
  'says that there is no more. '
  'Errors: PT400, PT401, PT408 (took longer than 15 s).';
