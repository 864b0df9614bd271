-- Seam: returns the records of a select, including nulls.
create function logloom_private.read_page(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  execute 'select array(' || p_sql || ')' into v_logs;
  return v_logs;
end;
$$;

-- Returns the records of a select. Reads them in a subtransaction and rolls it back: this releases
-- the locks.
create function logloom_private.read_apart(p_sql text)
returns public.logloom_log_record[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_logs public.logloom_log_record[];
begin
  begin
    execute 'select array(' || p_sql || ')' into v_logs;
    raise sqlstate 'LL002';
  exception when sqlstate 'LL002' then
    null;
  end;
  return v_logs;
end;
$$;

-- Returns up to p_limit records of a query, after p_ts and p_id if given. Reads part after part of
-- the range until the page has p_limit records or p_bytes (default max_page_bytes). After
-- search_page_time it begins no further part, so a page may have fewer records.
-- last_ts, last_id: the position where the next page begins; null if there is no next page.
create function logloom_private.found_page(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_bytes bigint default null,
  out logs public.logloom_log_record[],
  out last_ts timestamptz,
  out last_id uuid
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_staged constant boolean := jsonb_array_length(p_query.plan -> 'rows') > 0;
  v_parts tstzrange[];
  v_part tstzrange;
  v_left integer;
  v_rows logloom_private.sql_source;
  v_sql text;
  v_deadline timestamptz;
  v_found public.logloom_log_record[];
  v_is_exact boolean;
  v_is_full boolean;
begin
  select clock_timestamp() + s.search_page_time, coalesce(p_bytes, s.max_page_bytes)
  into v_deadline, p_bytes
  from logloom_private.settings s;
  p_query := logloom_private.bound_query(p_tenant_id, p_query, p_range, p_order, p_ts);
  v_parts := logloom_private.search_parts(
    p_tenant_id, p_query.ts_from, p_query.ts_to, p_order,
    (logloom_private.short_cuts(p_query)).sizes
  );
  -- Stages read the range as one part, because search_stage_records limits the whole range.
  if v_is_staged and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(p_query.ts_from, p_query.ts_to)];
  end if;
  logs := '{}';
  foreach v_part in array v_parts loop
    p_query.ts_from := lower(v_part);
    p_query.ts_to := upper(v_part);
    v_left := p_limit + 1 - cardinality(logs);
    v_rows := logloom_private.first_records_sql(
      p_tenant_id, p_query, v_left, p_order, p_ts, p_id, p_bytes => p_bytes
    );
    -- Adding up sizes is slow, and most pages have no large record. So the first round assumes that
    -- there is none.
    foreach v_is_exact in array array[false, true] loop
      v_sql := logloom_private.page_sql(p_query, v_rows, v_left, p_bytes, v_is_exact);
      -- If there is only one part, locks need not be released early.
      v_found := case when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
        else logloom_private.read_apart(v_sql) end;
      v_is_full := array_position(v_found, null) is not null;
      -- Extracted records were already measured in the first round.
      exit when v_is_staged or not v_is_full;
    end loop;
    if v_is_full then
      v_found := array_remove(v_found, null);
    end if;
    logs := case when cardinality(logs) = 0 then v_found else logs || v_found end;
    if v_is_full or cardinality(logs) > p_limit then
      logs := logs[1:p_limit];
      last_ts := logs[cardinality(logs)].ts;
      last_id := logs[cardinality(logs)].id;
      exit;
    elsif v_part <> v_parts[cardinality(v_parts)] and clock_timestamp() > v_deadline then
      -- The next page begins between this part and the next one.
      if p_order = 'desc' then
        last_ts := lower(v_part);
        last_id := '00000000-0000-0000-0000-000000000000';
      else
        last_ts := upper(v_part) - interval '1 microsecond';
        last_id := 'ffffffff-ffff-ffff-ffff-ffffffffffff';
      end if;
      exit;
    end if;
    if cardinality(v_parts) > 1 then
      p_bytes := p_bytes - logloom_private.answered_bytes(v_found);
    end if;
  end loop;
end;
$$;
