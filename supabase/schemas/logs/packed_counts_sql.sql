-- Seam. SQL in parentheses that yields the packed counts of a tenant as log_counts has them, of all
-- weeks that the range touches.
create function logloom_private.packed_counts_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return format(
    '(select p.tenant_id, c.* from logloom_private.packed_counts p, '
      || 'logloom_private.unpacked_counts(p) c '
      || 'where p.tenant_id = %L and p.week >= %L::date and p.week <= %L::date)',
    p_tenant_id, logloom_private.week_of(logloom_private.utc_day(p_from)),
    logloom_private.week_of(logloom_private.utc_day(p_to))
  );
end;
$$;
