-- Returns the ids at positions of a block, or of all records if p_positions is null. p_batches: the
-- result of block_batches for the same positions.
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

-- Returns the batch number (from 1) of each record at p_positions of a block (null: of all).
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

-- Calls sealed_records for the block with this id.
create function logloom_private.block_records(
  p_tenant_id text,
  p_block_id bigint,
  p_positions integer[],
  p_reads text[]
)
returns setof logloom.logs
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_block logloom_private.blocks;
begin
  -- Selects into a variable: rows from a join of a sharded table have another type.
  select c.* into v_block
  from logloom_private.blocks c
  where c.tenant_id = p_tenant_id and c.block_id = p_block_id;
  if found then
    perform logloom_private.can_read(v_block.format);
    return query
    select r.* from logloom_private.sealed_records(v_block, p_positions, p_reads) r;
  end if;
end;
$$;
