-- Ascending positions of a block among which are those that a page can hold. tries: whether the
-- outermost records are asked one by one first; not again where that found too few.
create function logloom_private.page_positions(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_limit integer,
  p_is_descending boolean,
  p_past timestamptz,
  p_from timestamptz,
  p_to timestamptz,
  inout tries boolean,
  out positions integer[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bits varbit;
begin
  -- Null: all of them.
  if p_tree ->> 'type' = 'all' then
    perform logloom_private.take_scan_slot();
  elsif tries then
    positions := logloom_private.tried_positions(
      p_block, p_tree, p_limit, p_is_descending, p_past, p_from, p_to
    );
    tries := positions is not null;
  end if;
  if p_tree ->> 'type' is distinct from 'all' and positions is null then
    v_bits := logloom_private.block_bits(p_block, p_tree, p_from, p_to);
    if bit_count(v_bits) < p_block.records then
      positions := logloom_private.bit_positions(v_bits);
    end if;
  end if;
  if positions is distinct from '{}' then
    positions := logloom_private.first_positions(
      p_block, positions, p_limit, p_is_descending, p_past, p_from, p_to
    );
  end if;
end;
$$;
