-- Finds a page's records in one block. Stops when the page is full: a filter that matches often is
-- not evaluated for the whole block. If no record needs the filter, returns all matches. Returns
-- null if evaluating the whole block is cheaper.
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
    -- The next try reads enough for one and a half times p_limit matches.
    v_tried := v_tried * p_limit * 3 / 2 / v_count;
  end loop;
  return null;
end;
$$;

-- Returns those of p_positions (ascending) whose records match a query. Evaluates the row filter on
-- each record, and takes the scan slot for that.
create function logloom_private.filtered_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_tree jsonb
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_found integer[];
begin
  execute format(
    $query$
      select array_agg(p.position order by p.n)
      from unnest($1) with ordinality p (position, n)
      join (
        select l.*, row_number() over () as n
        from logloom_private.sealed_records($2, $1, $3) l
      ) l on l.n = p.n
      where case when l.n & 255 <> 0 or logloom_private.take_scan_slot() then %s end
    $query$,
    logloom_private.query_sql(p_tree, 'l')
  )
  into v_found
  using p_positions, p_block, logloom_private.query_reads(p_tree);
  return coalesce(v_found, '{}');
end;
$$;

-- Returns the positions, ascending, of the first p_limit records of [p_from, p_to) in the page's
-- order. If more records have the same ts as the last of these, returns their positions, too.
-- p_past: the ts at which the previous page ended. All records with this ts are returned as well.
-- p_positions: if given, only the records at these positions count.
create function logloom_private.first_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_limit integer,
  p_is_descending boolean,
  p_past timestamptz,
  p_from timestamptz default '-infinity',
  p_to timestamptz default 'infinity'
)
returns integer[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_sign constant bigint := case when p_is_descending then -1 else 1 end;
  v_past constant bigint := case when p_past >= p_block.first_ts
    then logloom_private.step_at(p_block, p_past) end;
  v_from constant bigint := logloom_private.step_at(p_block, p_from);
  v_to constant bigint := logloom_private.step_at(p_block, p_to) - 1;
  v_last constant bigint := logloom_private.step_at(p_block, p_block.last_ts);
  -- The upper part of ts: ts_high if the block has it, or else ts_middle.
  v_middle "char"[] := p_block.ts_middle;
  v_high smallint[] := p_block.ts_high;
  v_size constant bigint := case when v_high is null then 65536 else 16777216 end;
  v_outermost constant bigint := case when p_is_descending then v_to else v_from end / v_size;
  v_innermost constant bigint := case when p_is_descending then v_from else v_to end / v_size;
  -- At the outermost value, only some of the records may be in the range.
  v_is_cut constant boolean := p_past is not null
    or case when p_is_descending then v_to < v_last else v_from > 0 end;
  -- The number of values that cover twice p_limit records, if records are spread evenly.
  v_values constant bigint := v_is_cut::integer
    + ceil(2.0 * p_limit * (v_last / v_size + 1) / p_block.records);
  v_value integer;
  v_found integer[];
  v_count integer := 0;
  v_positions integer[] := p_positions;
  v_steps bigint[];
  v_edge bigint;
begin
  if p_positions is null and v_middle is not null and p_block.ts_top is null
    and v_values <= least(v_last / v_size, 30)
  then
    for v_at in 0..least(abs(v_innermost - v_outermost), 2 * v_values) loop
      v_value := v_outermost + v_sign * v_at;
      v_found := case when v_high is null then array_positions(v_middle, (v_value - 128)::"char")
        else array_positions(v_high, (v_value - 32768)::smallint) end;
      v_positions := v_positions || v_found;
      v_count := v_count + case when v_at = 0 and v_is_cut then 0 else cardinality(v_found) end;
      exit when v_count >= p_limit;
    end loop;
    -- The tried records had too few matches, so all records are read.
    if v_count < p_limit and v_value <> v_innermost then
      v_positions := null;
    end if;
  end if;
  v_steps := logloom_private.block_steps(p_block, v_positions);
  v_edge := (
    array(
      select s.step
      from unnest(v_steps) s (step)
      where s.step between v_from and v_to and s.step is distinct from v_past
      order by v_sign * s.step
      limit p_limit
    )
  )[p_limit];
  return array(
    select coalesce(v_positions[s.n], s.n::integer) as position
    from unnest(v_steps) with ordinality s (step, n)
    where s.step between v_from and v_to
      and (v_edge is null or v_sign * s.step <= v_sign * v_edge or s.step = v_past)
    order by position
  );
end;
$$;
