-- Splits the next block that spans more days than its tenant's retention allows, which happens when
-- the retention was shortened. Then the older part can be deleted first. Stores the progress.
create function logloom_private.split_long_block(p_place logloom_private.retention_place)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant record;
  v_through text;
  v_block_id bigint;
  v_error text;
begin
  -- Goes tenant by tenant, because the blocks may be on other nodes.
  for v_tenant in
    select k.tenant_id, logloom_private.block_days(p_place.today - k.first_kept_day) as days
    from logloom_private.first_kept_days(p_place.today) k
    where k.tenant_id > p_place.spans_through
    order by k.tenant_id
    limit logloom_private.retention_step_tenants()
  loop
    select min(c.block_id) into v_block_id
    from logloom_private.blocks c
    where c.tenant_id = v_tenant.tenant_id and c.holds_counts
      and logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts) >= v_tenant.days;
    if v_block_id is not null then
      begin
        perform logloom_private.rewrite_blocks(
          v_tenant.tenant_id, array[v_block_id], v_tenant.days
        );
        v_through := coalesce(v_through, p_place.spans_through);
      exception
        when lock_not_available or disk_full then
          raise;
        when others then
          -- The next retention tries it again.
          v_error := format('%s: %s', sqlstate, sqlerrm);
          v_through := v_tenant.tenant_id;
      end;
      exit;
    end if;
    v_through := v_tenant.tenant_id;
  end loop;
  update logloom_private.retention_place p
  set spans_through = v_through, error = coalesce(p.error, v_error)
  where p.singleton;
end;
$$;
