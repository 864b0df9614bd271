-- Whether the tenant has sealed records of the range, or may have by the time that a statement runs
-- which is made now.
create function logloom_private.may_read_sealed(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.reads_sealed(p_tenant_id, p_from, p_to)
    or p_from < clock_timestamp() - (select s.seal_after from logloom_private.settings s);
end;
$$;
