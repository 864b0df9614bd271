-- Clears the bits of records outside [p_from, p_to).
create function logloom_private.range_bits(
  p_block logloom_private.blocks,
  p_bits varbit,
  p_from timestamptz,
  p_to timestamptz
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_from constant bigint := logloom_private.step_at(p_block, p_from);
  v_to constant bigint := logloom_private.step_at(p_block, p_to) - 1;
  v_positions integer[];
begin
  if bit_count(p_bits) * 4 < p_block.records then
    v_positions := logloom_private.bit_positions(p_bits);
    return logloom_private.position_bits(
      array(
        select s.position
        from unnest(v_positions, logloom_private.block_steps(p_block, v_positions))
          with ordinality s (position, step, n)
        where s.step between v_from and v_to
        order by s.n
      ),
      p_block.records
    );
  end if;
  return p_bits & (
    select string_agg(
      case when s.step between v_from and v_to then '1' else '0' end, '' order by s.n
    )::varbit
    from unnest(logloom_private.block_steps(p_block, null)) with ordinality s (step, n)
  );
end;
$$;

-- Returns the bits of a block's records that a query finds in [p_from, p_to). With p_within, only
-- among the records whose bits are set there.
create function logloom_private.block_bits(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_from timestamptz,
  p_to timestamptz,
  p_within varbit default null
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- Callers may force generic plans, but Citus needs the values to choose the node.
set plan_cache_mode = 'auto'
set jit = off
as $$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_found integer[];
begin
  perform logloom_private.take_scan_slot();
  v_bits := logloom_private.node_bits(p_block, p_tree);
  if p_within is not null then
    v_bits := array[v_bits[1] & p_within, v_bits[2] & p_within];
  end if;
  if bit_count(v_bits[2]) > 0 and (p_block.first_ts < p_from or p_block.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_block, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_found := logloom_private.filtered_positions(
    p_block, logloom_private.bit_positions(v_rest), p_tree
  );
  return v_bits[1] | logloom_private.position_bits(v_found, p_block.records);
end;
$$;
