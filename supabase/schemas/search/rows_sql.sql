-- SQL from "from" on: the tenant's rows, as alias l, of a range that pass a filter, where they lie
-- or, of many days, day by day. Parameters as those of rows_by_day.
create function logloom_private.rows_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_filter text,
  p_reads text[],
  p_order text default 'desc',
  p_limit integer default null,
  p_bytes bigint default null
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_parts constant tstzrange[] := logloom_private.search_parts(
    p_tenant_id, p_from, p_to, p_order, false
  );
begin
  if cardinality(v_parts) <= 1 then
    return logloom_private.tenant_rows_sql(p_tenant_id, p_from, p_to, p_filter);
  end if;
  return format(
    'from logloom_private.rows_by_day(%L, %L, %L, %L, %L, %L, %L) l where true',
    p_tenant_id, v_parts, p_filter, p_reads, p_order, p_limit, p_bytes
  );
end;
$$;
