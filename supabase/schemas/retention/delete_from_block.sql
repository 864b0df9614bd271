-- Removes the records that an erasure matches from a block: replaces it by a block of the other
-- records, and corrects the counts. Returns how many were removed; 0 for a damaged block.
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
      v_block.holds_counts
    );
  end if;
  delete from logloom_private.blocks c
  where c.tenant_id = v_block.tenant_id and c.block_id = v_block.block_id;
  return v_deleted;
end;
$$;
