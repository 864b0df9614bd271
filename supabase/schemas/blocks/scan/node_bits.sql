-- A node of a query's tree: its exact bits and its candidate bits. What only the candidate bits
-- have is put to the row filter.
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
        order by i.item ->> 'decided_by' is distinct from 'run', i.n
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
      case p_node ->> 'decided_by'
        when 'run' then
          v_bits := logloom_private.run_bits(p_block, p_node);
        when 'template' then
          return case p_node ->> 'field' when 'msg'
            then logloom_private.message_bits(p_block, p_node)
            else logloom_private.any_bits(p_block, p_node) end;
        when 'filter' then
          if not logloom_private.block_is_within(p_block, p_node) then
            return array[v_none, ~v_none];
          end if;
          v_bits := ~v_none;
        else
          v_bits := case p_node ->> 'field' when 'attrs'
            then logloom_private.attribute_bits(p_block, p_node)
            else logloom_private.field_bits(p_block, p_node) end;
      end case;
      return array[v_bits, v_bits];
    else
      return array[v_none, ~v_none];
  end case;
end;
$$;
