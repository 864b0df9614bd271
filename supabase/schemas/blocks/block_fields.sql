-- Of each record of a block the value that its run has.
-- A value a run as a value a record of a block.
create function logloom_private.run_texts(
  p_block logloom_private.blocks,
  p_values text[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_records constant integer[] := p_block.run_records;
  v_texts text[] := '{}';
begin
  if cardinality(v_records) <= 200 then
    for v_run in 1..cardinality(v_records) loop
      v_texts := v_texts || array_fill(p_values[v_run], v_records[v_run:v_run]);
    end loop;
    return v_texts;
  end if;
  -- Each of those steps copies what it adds to.
  return array(
    select s.value
    from (
      select x.value, generate_series(1, x.records)
      from unnest(p_values, v_records) x (value, records)
    ) s
  );
end;
$$;

-- The greatest record_bytes of a block, null where it is not known.
create function logloom_private.largest_record(p_block logloom_private.blocks)
returns bigint
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(c.greatest, (select max(d::integer) from unnest(c.dictionary) d))
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name = 'record_bytes'
  );
end;
$$;

-- record_bytes at ascending positions of a block, of which there is one at least; 0 or null where
-- it is not known.
create function logloom_private.block_sizes(
  p_block logloom_private.blocks,
  p_positions integer[]
)
returns integer[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column logloom_private.block_columns;
  v_lower integer;
  v_upper integer;
begin
  select c.* into v_column
  from logloom_private.block_columns c
  where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
    and c.name = 'record_bytes';
  if not found then
    return array_fill(0, array[cardinality(p_positions)]);
  end if;
  v_lower := width_bucket(v_column.first - 1, p_positions) + 1;
  v_upper := width_bucket(v_column.last, p_positions);
  return array_fill(0, array[v_lower - 1])
    || logloom_private.column_texts(v_column, p_positions[v_lower:v_upper])::integer[]
    || array_fill(0, array[cardinality(p_positions) - v_upper]);
end;
$$;

-- A field that is a column, of each record of a block.
create function logloom_private.block_field(
  p_block logloom_private.blocks,
  p_name text
)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_column logloom_private.block_columns;
  v_texts text[];
begin
  select c.* into v_column
  from logloom_private.block_columns c
  where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id and c.name = p_name;
  if not found then
    return array_fill(null::text, array[p_block.records]);
  end if;
  v_texts := logloom_private.column_texts(v_column, null);
  if v_column.first > 1 then
    v_texts := array_fill(null::text, array[v_column.first - 1]) || v_texts;
  end if;
  if v_column.last < p_block.records then
    v_texts := v_texts || array_fill(null::text, array[p_block.records - v_column.last]);
  end if;
  return v_texts;
end;
$$;
