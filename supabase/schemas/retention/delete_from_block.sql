-- Removes from a block the records that match an erasure. Replaces the block by a block of the
-- other records, and corrects the counts. Returns how many were removed; 0 for a damaged block.
create function logloom_private.delete_from_block(
  p_block_id bigint,
  p_run logloom.retention_runs,
  p_query logloom_private.compiled_query
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
  v_bits varbit;
  v_deleted integer;
begin
  select c.* into v_block
  from logloom_private.blocks c
  where c.tenant_id = p_run.tenant_id and c.block_id = p_block_id
  for update;
  if not found then
    return 0;
  end if;
  perform logloom_private.can_read(v_block.format);
  -- A damaged block cannot tell which records match. The receipt lists the block.
  if not logloom_private.block_is_intact(v_block) then
    update logloom_private.blocks c
    set damaged_at = coalesce(c.damaged_at, now())
    where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
    return 0;
  end if;
  v_bits := logloom_private.block_bits(v_block, p_query.tree, p_run.ts_from, p_run.ts_to);
  v_deleted := bit_count(v_bits);
  if v_deleted = 0 then
    return 0;
  end if;
  if not v_block.holds_counts then
    perform logloom_private.count_sealed(v_block, logloom_private.bit_positions(v_bits), -1);
  end if;
  insert into logloom_private.log_removals (tenant_id)
  select v_block.tenant_id
  -- Alert windows are at most a day, so older removals change no alert.
  where v_block.last_ts > now() - interval '3 days';
  perform logloom_private.uncount_errors(
    v_block.tenant_id,
    format(
      'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
      v_block.tenant_id, v_block.block_id, logloom_private.bit_positions(v_bits)
    )
  );
  -- The remaining records become a new block. write_block compares the block with them.
  if v_deleted < v_block.records then
    perform logloom_private.write_block(
      v_block.tenant_id,
      logloom_private.read_records(
        format(
          'select r.* from logloom_private.block_records(%L, %s, %L::integer[], null) r',
          v_block.tenant_id, v_block.block_id, logloom_private.bit_positions(~v_bits)
        )
      ),
      v_block.holds_counts, v_block.kept_days
    );
  end if;
  delete from logloom_private.blocks c
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
  return v_deleted;
end;
$$;

-- Splits the next block that spans more days than its retention allows, after the retention was
-- shortened. The older part can then be deleted first. Stores the progress.
create function logloom_private.split_long_block(p_place logloom_private.retention_place)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant record;
  v_through text;
  v_block_id bigint;
  v_days integer;
  v_error text;
begin
  -- Goes tenant by tenant, because the blocks may be on other nodes.
  for v_tenant in
    select k.tenant_id, logloom_private.retention_days(k.tenant_id) as days
    from logloom_private.first_kept_days(p_place.today) k
    where k.tenant_id > p_place.spans_through
    order by k.tenant_id
    limit logloom_private.retention_step_tenants()
  loop
    select c.block_id, d.days into v_block_id, v_days
    from logloom_private.blocks c
    cross join logloom_private.block_days(coalesce(c.kept_days, v_tenant.days)) d (days)
    where c.tenant_id = v_tenant.tenant_id and c.holds_counts
      and logloom_private.utc_day(c.last_ts) - logloom_private.utc_day(c.first_ts) >= d.days
    order by c.block_id
    limit 1;
    if found then
      begin
        perform logloom_private.rewrite_blocks(v_tenant.tenant_id, array[v_block_id], v_days);
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
