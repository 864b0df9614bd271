-- Seam: whether the tenant has sealed records of the range in this snapshot. Exact within a stable
-- function: it and the statement that it decides for share a snapshot, and in a snapshot a record
-- is a row or in a block.
create function logloom_private.reads_sealed(
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
  perform
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.last_ts >= p_from and c.first_ts < p_to
  limit 1;
  return found;
end;
$$;
