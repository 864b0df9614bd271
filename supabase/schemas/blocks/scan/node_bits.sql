-- A node of a query's tree: its exact bits and its candidate bits. What only the candidate bits
-- have is put to the row filter, so a leaf that is not known here is right, only slow.
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
      elsif p_node ->> 'field' = any(logloom_private.column_fields()) then
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
