-- Adds records of a block, all where p_positions is null, to the counts, or takes them away.
create function logloom_private.count_sealed(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_sign integer
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom_private.log_counts (tenant_id, minute, service, level, events)
  select
    p_block.tenant_id, date_bin('1 minute', r.ts, 'epoch'), r.service, r.level,
    p_sign * count(*)
  from logloom_private.sealed_records(p_block, p_positions, array['ts', 'service', 'level']) r
  group by 2, 3, 4
  order by 2;
end;
$$;
