-- id at positions of a block, all where null. p_batches: block_batches of the same positions.
create function logloom_private.block_ids(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_batches integer[]
)
returns uuid[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_prefixes bytea := p_block.batch_prefixes || ''::bytea;
  v_prefix text[];
  v_indexes smallint[] := p_block.id_indexes;
begin
  if p_positions is not null then
    return array(
      select encode(
        substring(v_prefixes from 14 * b.batch - 13 for 14) || int2send(v_indexes[b.position]),
        'hex'
      )::uuid
      from unnest(p_positions, p_batches) with ordinality b (position, batch, n)
      order by b.n
    );
  end if;
  v_prefix := array(
    select encode(substring(v_prefixes from 1 + 14 * i for 14), 'hex')
    from generate_series(0, octet_length(v_prefixes) / 14 - 1) i
  );
  return array(
    select (v_prefix[b.batch] || encode(int2send(b.index), 'hex'))::uuid
    from (select unnest(p_batches) as batch, unnest(v_indexes) as index) b
  );
end;
$$;
