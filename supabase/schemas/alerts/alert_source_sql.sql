-- SQL that yields a tenant's newest records of a range, sealed ones too, of those before
-- (p_ts, p_id) where they are given.
create function logloom_private.alert_source_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_ts timestamptz,
  p_id uuid,
  p_limit integer
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to constant timestamptz := least(p_to, p_ts + interval '1 microsecond');
  v_order constant text := ' order by l.ts desc, l.id desc limit ' || p_limit;
  v_rows constant text := 'select l.* ' || logloom_private.tenant_rows_sql(
    p_tenant_id, p_from, v_to,
    case when p_ts is null then 'true'
      else format('(l.ts, l.id) < (%L::timestamptz, %L::uuid)', p_ts, p_id) end
  ) || v_order;
begin
  -- Or may have by the time that this runs.
  if not logloom_private.reads_sealed(p_tenant_id, p_from, v_to)
    and p_from >= clock_timestamp() - (select s.seal_after from logloom_private.settings s)
  then
    return v_rows;
  end if;
  return 'select l.* from ((' || v_rows
    || ') union all select l.* from logloom_private.sealed_page('
    || format(
      '%L, %L, %L, %L, %L, %L, %L, %L',
      p_tenant_id, p_from, v_to, '{"type": "all"}', p_limit, 'desc', p_ts, p_id
    )
    || ') l) l' || v_order;
end;
$$;
