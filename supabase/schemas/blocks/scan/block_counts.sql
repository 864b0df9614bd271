-- How many records a tenant's blocks that hold their counts have of whole minutes in
-- [p_from, p_to), as log_counts has them.
create function logloom_private.block_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns table (tenant_id text, minute timestamptz, level text, service text, events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_block logloom_private.blocks;
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.holds_counts
      and c.last_ts >= p_from and c.first_ts < p_to
      and logloom_private.can_read(c.format)
  loop
    return query
    select p_tenant_id, date_bin('1 minute', r.ts, 'epoch'), r.level, r.service, count(*)
    from logloom_private.sealed_records(v_block, null, array['ts', 'level', 'service']) r
    where r.ts >= p_from and r.ts < p_to
    group by 2, 3, 4;
  end loop;
end;
$$;
