-- The first and the last step of ts that [p_from, p_to) may have in a block; the first is greater
-- where it has none.
create function logloom_private.range_steps(
  p_block logloom_private.blocks,
  p_from timestamptz,
  p_to timestamptz
)
returns bigint[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Bounds beyond the block may be infinite.
  return array[
    (
      logloom_private.microseconds_after(p_block.first_ts, greatest(p_from, p_block.first_ts))
        + p_block.ts_unit - 1
    ) / p_block.ts_unit,
    (
      logloom_private.microseconds_after(
        p_block.first_ts,
        least(greatest(p_to, p_block.first_ts), p_block.last_ts + interval '1 microsecond')
      ) + p_block.ts_unit - 1
    ) / p_block.ts_unit - 1
  ];
end;
$$;
