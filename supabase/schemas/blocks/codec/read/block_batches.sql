-- The number (1-based) of the batch at positions of a block, or of all.
create function logloom_private.block_batches(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns integer[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_bytes "char"[] := p_block.batch_codes;
  v_numbers smallint[] := p_block.wide_batch_codes;
begin
  if v_bytes is null and v_numbers is null then
    return array_fill(1, array[coalesce(cardinality(p_positions), p_block.records)]);
  elsif p_positions is null then
    if v_bytes is not null then
      return array(select unnest(v_bytes)::integer + 129);
    end if;
    return v_numbers::integer[];
  end if;
  return array(
    select coalesce(v_bytes[p.position]::integer + 129, v_numbers[p.position])
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;
