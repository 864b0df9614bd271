-- Returns two sets of bits for a node of a query's tree. exact: records that match. candidate:
-- records that may match. The row filter then tests the candidates that are not exact. p_is_quick:
-- never reads the texts of a whole block.
create function logloom_private.node_bits(
  p_block logloom_private.blocks,
  p_node jsonb,
  p_is_quick boolean default false
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_type constant text := p_node ->> 'type';
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_bounds constant jsonb := p_node -> 'bounds';
  v_all constant varbit := ~v_none;
  v_flags boolean[];
  v_run_records integer[];
  v_bits varbit;
  v_item varbit[];
  v_result varbit[];
  v_node jsonb;
begin
  case v_type
    when 'all' then
      return array[v_all, v_all];
    when 'none' then
      return array[v_none, v_none];
    when 'not' then
      v_item := logloom_private.node_bits(p_block, p_node -> 'item', p_is_quick);
      return array[~v_item[2], ~v_item[1]];
    when 'and' then
      v_result := array[v_all, v_all];
      for v_node in
        -- Leaves that runs can answer come first. They are cheapest, and may leave nothing else to
        -- do.
        select i.item
        from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n)
        order by i.item ->> 'decided_by' is distinct from 'run', i.n
      loop
        v_item := logloom_private.node_bits(p_block, v_node, p_is_quick);
        v_result := array[v_result[1] & v_item[1], v_result[2] & v_item[2]];
        exit when bit_count(v_result[2]) = 0;
      end loop;
      return v_result;
    when 'or' then
      v_result := array[v_none, v_none];
      for v_node in select i from jsonb_array_elements(p_node -> 'items') i loop
        v_item := logloom_private.node_bits(p_block, v_node, p_is_quick);
        v_result := array[v_result[1] | v_item[1], v_result[2] | v_item[2]];
      end loop;
      return v_result;
    else
      -- If v_bits stays null, all records are candidates.
      if p_is_quick and not (p_node -> 'block_quick')::boolean then
        v_bits := null;
      elsif p_node ->> 'field' = 'msg' then
        return logloom_private.message_bits(p_block, p_node);
      elsif p_node ->> 'field' = 'any' then
        return logloom_private.any_bits(p_block, p_node);
      elsif p_node ->> 'decided_by' = 'run' then
        execute format(
          'select array_agg(%s) from (select unnest($1) as service, unnest($2) as level) l',
          logloom_private.query_sql(p_node, 'l')
        )
        into v_flags
        using p_block.run_services, p_block.run_levels;
        v_run_records := p_block.run_records;
        v_bits := '';
        for v_run in 1..cardinality(v_flags) loop
          v_bits := v_bits || substring(
            case when v_flags[v_run] then v_all else v_none end from 1 for v_run_records[v_run]
          );
        end loop;
      elsif p_node ->> 'decided_by' = 'filter' then
        -- Sets all bits if the bounds include the whole block.
        v_bits := case
          when p_node ->> 'field' = 'ts'
            and coalesce((v_bounds ->> 'from')::timestamptz <= p_block.first_ts, true)
            and coalesce((v_bounds ->> 'to')::timestamptz > p_block.last_ts, true)
            then v_all
        end;
      else
        v_bits := logloom_private.column_bits(p_block, p_node, p_is_quick);
      end if;
      return array[coalesce(v_bits, v_none), coalesce(v_bits, v_all)];
  end case;
end;
$$;
