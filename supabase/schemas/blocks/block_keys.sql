-- How long after another a time is; both are finite.
create function logloom_private.microseconds_after(p_first timestamptz, p_ts timestamptz)
returns bigint
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (extract(epoch from p_ts - p_first) * 1000000)::bigint;
end;
$$;

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

-- ts at positions of a block, all where null, as steps of ts_unit from first_ts on.
create function logloom_private.block_steps(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns bigint[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_low smallint[] := p_block.ts_low;
  v_middle "char"[] := p_block.ts_middle;
  v_high smallint[] := p_block.ts_high;
begin
  if p_positions is null then
    -- unnest() where a row is made takes a third of the time that it takes after "from".
    return array(
      select o.low + 32768 + coalesce(o.middle::integer + 128, 0) * 65536
        + coalesce(o.high + 32768, 0) * 16777216::bigint
      from (
        select unnest(v_low) as low, unnest(v_middle) as middle, unnest(v_high) as high
      ) o
    );
  end if;
  return array(
    select v_low[p.position] + 32768 + coalesce(v_middle[p.position]::integer + 128, 0) * 65536
      + coalesce(v_high[p.position] + 32768, 0) * 16777216::bigint
    from unnest(p_positions) with ordinality p (position, n)
    order by p.n
  );
end;
$$;

-- ts at positions of a block, all where null.
create function logloom_private.block_times(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns timestamptz[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_first constant timestamptz := p_block.first_ts;
  v_unit constant interval := p_block.ts_unit * interval '1 microsecond';
  v_steps constant bigint[] := logloom_private.block_steps(p_block, p_positions);
begin
  return array(select v_first + v_unit * unnest(v_steps)::double precision);
end;
$$;

-- The batch of each position, 1-based.
-- The number of the batch (1-based) at positions of a block, all where null.
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
