-- SQL of up to p_limit records, the newest or the oldest of the range first, those after p_ts and
-- p_id where they are given, each a composite. Large ones are null, or with p_fits those after
-- p_bytes. p_is_part: the range is one of search_parts.
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
  v_order := format('l.ts %1$s, l.id %1$s', p_order);
  if not v_is_staged then
    return logloom_private.fitting_sql(v_columns, '', v_rows, v_order, p_limit, p_bytes, p_fits);
  end if;
  -- What is extracted comes on top of what a record has.
  return logloom_private.fitting_sql(
    v_columns, '',
    'from (select l.* '
      || logloom_private.staged_sql(p_query, 'from (select l.* ' || v_rows || ') l')
      || format(' order by %s limit %s) l', v_order, p_limit),
    v_order, p_limit, p_bytes, true,
    'octet_length(to_json(row(' || v_columns || ')::public.logloom_log_record)::text)'
  );
end;
$$;
