-- The records in [p_from, p_to) of a tenant's blocks that hold their counts, as rows of log_counts
-- would count them, with their ts for the minute.
create function logloom_private.block_counts(
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz
)
returns table (tenant_id text, ts timestamptz, level text, service text, events bigint)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
rows 1000
as $$
declare
  v_block logloom_private.blocks;
  v_ts timestamptz[];
  v_runs integer[];
begin
  for v_block in
    select c.*
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.holds_counts
      and c.last_ts >= p_from and c.first_ts < p_to
      and c.damaged_at is null and logloom_private.can_read(c.format)
  loop
    v_ts := logloom_private.block_times(v_block, null);
    v_runs := logloom_private.block_runs(v_block, null);
    return query
    select p_tenant_id, r.ts, r.level, r.service, 1::bigint
    from (
      select
        unnest(v_ts) as ts,
        unnest(logloom_private.elements_at(v_block.run_levels, v_runs)) as level,
        unnest(logloom_private.elements_at(v_block.run_services, v_runs)) as service
    ) r
    where r.ts >= p_from and r.ts < p_to;
  end loop;
end;
$$;
