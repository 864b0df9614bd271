-- Of the records that a page can hold those of a block, found by asking the outermost of them one
-- by one: a filter that lets many through need not be decided for all. All where nothing is to be
-- asked, null where it is cheaper to ask all.
create function logloom_private.tried_positions(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_limit integer,
  p_is_descending boolean,
  p_past timestamptz,
  p_from timestamptz,
  p_to timestamptz
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bits constant varbit[] := logloom_private.node_bits(p_block, p_tree, true);
  v_tried bigint := 4 * p_limit;
  v_all integer[];
  v_found integer[];
  v_count integer;
begin
  if bit_count(v_bits[2]) < p_block.records then
    v_all := logloom_private.bit_positions(v_bits[2]);
  end if;
  if v_bits[1] = v_bits[2] then
    perform logloom_private.take_scan_slot();
    return v_all;
  end if;
  for v_try in 1..2 loop
    if v_tried > bit_count(v_bits[2]) / 4 then
      return null;
    end if;
    v_found := logloom_private.filtered_positions(
      p_block,
      logloom_private.first_positions(
        p_block, v_all, v_tried::integer, p_is_descending, p_past, p_from, p_to
      ),
      p_tree
    );
    select count(*) into v_count
    from unnest(logloom_private.block_times(p_block, v_found)) t (ts)
    where t.ts is distinct from p_past;
    if v_count >= p_limit then
      return v_found;
    elsif v_count = 0 then
      return null;
    end if;
    -- As many as hold half as many again as are wanted.
    v_tried := v_tried * p_limit * 3 / 2 / v_count;
  end loop;
  return null;
end;
$$;
