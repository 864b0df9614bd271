-- Returns the first step at or after a time; block_steps says what a step is. Any time after the
-- block, even infinity, gives the block's last step plus 1.
create function logloom_private.step_at(p_block logloom_private.blocks, p_ts timestamptz)
returns bigint
language sql
stable
parallel safe
return ceil(
  extract(
    epoch from greatest(
      least(p_ts, p_block.last_ts + interval '1 microsecond'), p_block.first_ts
    ) - p_block.first_ts
  ) * 1000000 / p_block.ts_unit
);

-- Returns ts at positions of a block, or of all records, as the number of steps since first_ts. A
-- step has ts_unit microseconds.
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
  v_top "char"[] := p_block.ts_top;
  v_steps bigint[];
begin
  if p_positions is null then
    -- unnest() in the select list takes a third of the time that it takes in "from".
    v_steps := array(
      select o.low + 32768 + coalesce(o.middle::integer + 128, 0) * 65536
        + coalesce(o.high + 32768, 0) * 16777216::bigint
      from (
        select unnest(v_low) as low, unnest(v_middle) as middle, unnest(v_high) as high
      ) o
    );
  else
    v_steps := array(
      select v_low[p.position] + 32768 + coalesce(v_middle[p.position]::integer + 128, 0) * 65536
        + coalesce(v_high[p.position] + 32768, 0) * 16777216::bigint
      from unnest(p_positions) with ordinality p (position, n)
      order by p.n
    );
  end if;
  -- Blocks have ts_top only if ts_unit is 1 and they span more than 12 days.
  if v_top is not null then
    if p_positions is not null then
      v_top := array(select v_top[unnest(p_positions)]);
    end if;
    v_steps := array(
      select o.step + (o.top::integer + 128) * 1099511627776
      from (select unnest(v_steps) as step, unnest(v_top) as top) o
    );
  end if;
  return v_steps;
end;
$$;

-- Returns ts at positions of a block, or of all records if p_positions is null.
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

-- Returns the services and levels of the records at p_positions (null: of all records). If p_reads
-- has msg.exists, a record with a message gets an empty text as its message. The results are null
-- if p_reads names none of these fields.
create function logloom_private.run_texts(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_reads text[],
  out services text[],
  out levels text[],
  out messages text[]
)
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_runs integer[];
begin
  if p_reads is null or p_reads && array['service', 'level', 'msg.exists'] then
    v_runs := logloom_private.block_runs(p_block, p_positions);
    services := logloom_private.elements_at(p_block.run_services, v_runs);
    levels := logloom_private.elements_at(p_block.run_levels, v_runs);
    if 'msg.exists' = any(p_reads) then
      messages := logloom_private.elements_at(
        array(select case when t > 0 then '' end from unnest(p_block.run_templates) t), v_runs
      );
    end if;
  end if;
end;
$$;

-- Returns the run number of each record at p_positions of a block (null: of all records).
create function logloom_private.block_runs(p_block logloom_private.blocks, p_positions integer[])
returns integer[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_firsts integer[];
begin
  if p_positions is null then
    return array(
      select r.run
      from (
        select u.n::integer as run, generate_series(1, u.records)
        from unnest(p_block.run_records) with ordinality u (records, n)
      ) r
    );
  end if;
  v_firsts := array(
    select sum(u.records) over (order by u.n) - u.records + 1
    from unnest(p_block.run_records) with ordinality u (records, n)
    order by u.n
  );
  return array(select width_bucket(p, v_firsts) from unnest(p_positions) p);
end;
$$;

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
