-- The first step of ts at or after a time, as block_steps has it; one more than a block's last step
-- where the time lies after the block, which may be infinite.
create function logloom_private.step_at(p_block logloom_private.blocks, p_ts timestamptz)
returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return ceil(
    extract(
      epoch from greatest(
        least(p_ts, p_block.last_ts + interval '1 microsecond'), p_block.first_ts
      ) - p_block.first_ts
    ) * 1000000 / p_block.ts_unit
  );
end;
$$;
