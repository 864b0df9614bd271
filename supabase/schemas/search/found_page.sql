-- Up to p_limit records that a query finds, those after p_ts and p_id where they are given: part
-- after part of the range, until the page is full, by number or by p_bytes (default
-- max_page_bytes). It begins no further part after search_turn, so that it may find fewer.
create function logloom_private.found_page(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_limit integer,
  p_order text,
  p_ts timestamptz,
  p_id uuid,
  p_bytes bigint default null
)
returns logloom_private.found_page
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_descending constant boolean := p_order = 'desc';
  v_is_staged constant boolean := jsonb_array_length(p_query.plan -> 'rows') > 0;
  v_from timestamptz := greatest(lower(p_range), p_query.ts_from);
  v_to timestamptz := least(upper(p_range), p_query.ts_to);
  v_parts tstzrange[];
  v_is_part boolean := true;
  v_part tstzrange;
  v_sql text;
  v_deadline timestamptz;
  v_found public.logloom_log_record[];
  v_is_full boolean;
  v_page logloom_private.found_page;
begin
  v_page.logs := '{}';
  select clock_timestamp() + s.search_turn, coalesce(p_bytes, s.max_page_bytes)
  into v_deadline, p_bytes
  from logloom_private.settings s;
  if p_ts is not null and v_is_descending then
    v_to := least(v_to, p_ts + interval '1 microsecond');
  elsif p_ts is not null then
    v_from := greatest(v_from, p_ts);
  end if;
  v_parts := logloom_private.search_parts(p_tenant_id, v_from, v_to, p_order);
  -- The bound of an extraction is one of all that it reads.
  if v_is_staged and cardinality(v_parts) > 1 then
    v_parts := array[tstzrange(v_from, v_to)];
    v_is_part := false;
  end if;
  foreach v_part in array v_parts loop
    -- Most pages have no large record, and adding up sizes costs: first as if there were none.
    for v_fits in 0..1 loop
      v_sql := logloom_private.log_page_sql(
        p_tenant_id, p_query, v_part, p_limit + 1 - cardinality(v_page.logs), p_order, p_ts, p_id,
        v_is_part, p_bytes, v_fits = 1
      );
      -- After a single part nothing more is opened.
      v_found := case when cardinality(v_parts) = 1 then logloom_private.read_page(v_sql)
        else logloom_private.read_apart(v_sql) end;
      v_is_full := array_position(v_found, null) is not null;
      -- What is extracted was measured at once.
      exit when v_is_staged or not v_is_full;
    end loop;
    if v_is_full then
      v_found := array_remove(v_found, null);
    end if;
    v_page.logs := v_page.logs || v_found;
    if v_is_full or cardinality(v_page.logs) > p_limit then
      v_page.logs := v_page.logs[1:p_limit];
      v_page.last_ts := (v_page.logs[cardinality(v_page.logs)]).ts;
      v_page.last_id := (v_page.logs[cardinality(v_page.logs)]).id;
      return v_page;
    elsif v_part = v_parts[cardinality(v_parts)] then
      return v_page;
    elsif clock_timestamp() > v_deadline then
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
    p_bytes := p_bytes - logloom_private.answered_bytes(v_found);
  end loop;
  return v_page;
end;
$$;
