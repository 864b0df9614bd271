-- Whether a leaf says nothing but what blocks can tell; one that says more is for the row filter.
create function logloom_private.leaf_is_known(p_leaf jsonb)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not exists (
    select
    from jsonb_object_keys(p_leaf) k
    where k not in (
      'type', 'field', 'name', 'path', 'joined', 'test', 'values', 'pattern', 'fold', 'size',
      'position', 'lower', 'lower_open', 'upper', 'upper_open', 'from', 'to'
    )
  );
end;
$$;

-- surely and perhaps of a node of a query's tree.
-- A node of a query's tree: the bits that are sure, and those that may be.
create function logloom_private.node_bits(
  p_block logloom_private.blocks,
  p_node jsonb
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_bits varbit;
  v_item varbit[];
  v_result varbit[];
  v_node jsonb;
  v_column logloom_private.block_columns;
begin
  case v_type
    when 'all' then
      return array[~v_none, ~v_none];
    when 'none' then
      return array[v_none, v_none];
    when 'not' then
      v_item := logloom_private.node_bits(p_block, p_node -> 'item');
      return array[~v_item[2], ~v_item[1]];
    when 'and' then
      v_result := array[~v_none, ~v_none];
      for v_node in
        -- What runs tell costs least, and may leave nothing to ask.
        select i.item
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by coalesce(i.item ->> 'field' not in ('service', 'level'), true), i.n
      loop
        v_item := logloom_private.node_bits(p_block, v_node);
        v_result := array[v_result[1] & v_item[1], v_result[2] & v_item[2]];
        exit when bit_count(v_result[2]) = 0;
      end loop;
      return v_result;
    when 'or' then
      v_result := array[v_none, v_none];
      for v_node in select i from jsonb_array_elements(p_node -> 'items') i loop
        v_item := logloom_private.node_bits(p_block, v_node);
        v_result := array[v_result[1] | v_item[1], v_result[2] | v_item[2]];
      end loop;
      return v_result;
    when 'leaf' then
      if p_node ->> 'test' = 'word' and p_node ->> 'field' in ('msg', 'any') then
        -- What holds the word holds its text.
        v_item := logloom_private.node_bits(p_block, p_node - 'regex' || '{"test": "contains"}');
        return array[v_none, v_item[2]];
      elsif not logloom_private.leaf_is_known(p_node) then
        return array[v_none, ~v_none];
      elsif p_node ->> 'field' in ('service', 'level') then
        v_bits := logloom_private.run_bits(p_block, p_node);
      elsif p_node ->> 'field' = 'msg' then
        return logloom_private.message_bits(p_block, p_node);
      elsif p_node ->> 'field' = 'any' and p_node ->> 'test' in ('contains', 'equal', 'regex') then
        return logloom_private.any_bits(p_block, p_node);
      elsif p_node ->> 'field' in ('env', 'req_id', 'user_id', 'route', 'host') then
        select c.* into v_column
        from logloom_private.block_columns c
        where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
          and c.name = p_node ->> 'field';
        if v_column.block_id is not null then
          v_bits := logloom_private.column_bits(v_column, p_node, p_block.records);
        else
          v_bits := repeat(
            logloom_private.tested_values(
              logloom_private.query_sql(p_node, 'l'), p_node ->> 'field', null, array[null::text]
            ),
            p_block.records
          )::varbit;
        end if;
      elsif p_node ->> 'field' = 'attrs' and jsonb_typeof(p_node -> 'path') = 'array' then
        v_bits := logloom_private.attribute_bits(p_block, p_node);
      elsif p_node ->> 'field' = 'ts' and p_node ->> 'test' = 'within'
        and coalesce((p_node ->> 'from')::timestamptz <= p_block.first_ts, true)
        and coalesce((p_node ->> 'to')::timestamptz > p_block.last_ts, true)
      then
        v_bits := ~v_none;
      else
        return array[v_none, ~v_none];
      end if;
      return array[v_bits, v_bits];
    else
      return array[v_none, ~v_none];
  end case;
end;
$$;

-- Those of the bits whose records are in [p_from, p_to).
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
  v_range constant bigint[] := logloom_private.range_steps(p_block, p_from, p_to);
  v_positions integer[];
begin
  if bit_count(p_bits) * 4 < p_block.records then
    v_positions := logloom_private.bit_positions(p_bits);
    return logloom_private.position_bits(
      array(
        select s.position
        from unnest(v_positions, logloom_private.block_steps(p_block, v_positions))
          with ordinality s (position, step, n)
        where s.step between v_range[1] and v_range[2]
        order by s.n
      ),
      p_block.records
    );
  end if;
  return p_bits & (
    select string_agg(
      case when s.step between v_range[1] and v_range[2] then '1' else '0' end, '' order by s.n
    )::varbit
    from unnest(logloom_private.block_steps(p_block, null)) with ordinality s (step, n)
  );
end;
$$;

-- Those of a block's ascending positions whose records pass p_filter, which is asked of each;
-- p_fields and p_keys are what it reads.
create function logloom_private.filtered_positions(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_filter text,
  p_fields text[],
  p_keys text[]
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
        from logloom_private.sealed_records($2, $1, $3, $4) l
      ) l on l.n = p.n
      where %s
    $query$,
    p_filter
  )
  into v_found
  using p_positions, p_block, p_fields, p_keys;
  return coalesce(v_found, '{}');
end;
$$;

-- Which records of a block a query finds in [p_from, p_to). p_tree and p_filter are the query's,
-- the tree null where only the filter is at hand; p_fields and p_keys what the filter reads.
create function logloom_private.block_bits(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_filter text,
  p_fields text[],
  p_keys text[],
  p_from timestamptz,
  p_to timestamptz
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- Whoever asks may plan once for all values; a node is found by them.
set plan_cache_mode = 'auto'
set jit = off
as $$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_found integer[];
begin
  perform logloom_private.take_turn();
  v_bits := logloom_private.node_bits(p_block, coalesce(p_tree, '{"type": "unknown"}'));
  if bit_count(v_bits[2]) > 0 and (p_block.first_ts < p_from or p_block.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_block, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_found := logloom_private.filtered_positions(
    p_block, logloom_private.bit_positions(v_rest), p_filter, p_fields, p_keys
  );
  return v_bits[1] | logloom_private.position_bits(v_found, p_block.records);
end;
$$;
