-- Returns the exact bits and the candidate bits of a leaf over messages.
create function logloom_private.message_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_folded constant boolean := (p_leaf -> 'folds_case')::boolean;
  v_template constant jsonb := p_leaf -> 'template';
  v_literal constant text := v_template ->> 'literal';
  v_words constant text[] := array(select jsonb_array_elements_text(v_template -> 'words'));
  v_none constant varbit := logloom_private.no_bits(p_block.records);
  v_found integer[];
  v_templates text[];
  v_texts text[];
  v_bits varbit;
begin
  if v_literal is null then
    return array[v_none, ~v_none];
  end if;
  -- The runs whose words do not exclude a matching template.
  v_found := array(
    select l.n
    from unnest(p_block.run_words) with ordinality l (words, n)
    where l.words is null
      or not exists (
        select
        from unnest(v_words) w
        where strpos(
          case when strpos(w, 'σ') > 0 then replace(l.words, 'ς', 'σ') else l.words end, w
        ) = 0
      )
  );
  if v_found = '{}' then
    return array[v_none, v_none];
  end if;
  v_templates := p_block.templates;
  v_texts := array(
    select case when strpos(m.text, v_literal) > 0 then m.text end
    from (
      select u.n, case when u.n::integer = any(v_found) then
        case when v_folded then logloom_private.folded_text(u.templates) else u.templates end
        end as text
      from unnest(v_templates) with ordinality u (templates, n)
      offset 0
    ) m
    order by m.n
  );
  if cardinality(array_remove(v_texts, null)) = 0 then
    return array[v_none, v_none];
  end if;
  -- A leaf never matches a record without a message.
  execute format(
    $query$
      select string_agg(
        coalesce(
          (
            select string_agg(
              repeat(case when (%s) is true then '1' else '0' end, l.count), '' order by l.n
            )
            from unnest(string_to_array(s.text, $4), $5[s.last - s.templates + 1:s.last])
              with ordinality l (%s, count, n)
            where l.count is not null
          ),
          repeat('0', s.records)
        ),
        '' order by s.n
      )::varbit
      from (
        select u.*, (sum(u.templates) over (order by u.n))::integer as last
        from unnest($1, $2, $3) with ordinality u (text, templates, records, n)
      ) s
    $query$,
    logloom_private.template_sql(p_leaf), case when v_folded then 'folded' else 'msg' end
  )
  into v_bits
  using
    v_texts, p_block.run_templates, p_block.run_records, p_block.separator,
    p_block.template_records;
  return array[
    case when (v_template -> 'decides')::boolean then v_bits else v_none end, v_bits
  ];
end;
$$;

-- Clears the bits of records outside [p_from, p_to).
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
  v_from constant bigint := logloom_private.step_at(p_block, p_from);
  v_to constant bigint := logloom_private.step_at(p_block, p_to) - 1;
  v_positions integer[];
begin
  if bit_count(p_bits) * 4 < p_block.records then
    v_positions := logloom_private.bit_positions(p_bits);
    return logloom_private.position_bits(
      array(
        select s.position
        from unnest(v_positions, logloom_private.block_steps(p_block, v_positions))
          with ordinality s (position, step, n)
        where s.step between v_from and v_to
        order by s.n
      ),
      p_block.records
    );
  end if;
  return p_bits & (
    select string_agg(
      case when s.step between v_from and v_to then '1' else '0' end, '' order by s.n
    )::varbit
    from unnest(logloom_private.block_steps(p_block, null)) with ordinality s (step, n)
  );
end;
$$;

-- Returns the bits of a block's records that a query finds in [p_from, p_to). With p_within, only
-- among the records whose bits are set there.
create function logloom_private.block_bits(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_from timestamptz,
  p_to timestamptz,
  p_within varbit default null
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
-- Callers may force generic plans, but Citus needs the values to choose the node.
set plan_cache_mode = 'auto'
set jit = off
as $$
declare
  v_bits varbit[];
  v_within varbit;
  v_rest varbit;
  v_found integer[];
begin
  perform logloom_private.take_scan_slot();
  v_bits := logloom_private.node_bits(p_block, p_tree);
  if p_within is not null then
    v_bits := array[v_bits[1] & p_within, v_bits[2] & p_within];
  end if;
  if bit_count(v_bits[2]) > 0 and (p_block.first_ts < p_from or p_block.last_ts >= p_to) then
    v_within := logloom_private.range_bits(p_block, v_bits[2], p_from, p_to);
    v_bits := array[v_bits[1] & v_within, v_within];
  end if;
  v_rest := v_bits[2] & ~v_bits[1];
  if bit_count(v_rest) = 0 then
    return v_bits[1];
  end if;
  v_found := logloom_private.filtered_positions(
    p_block, logloom_private.bit_positions(v_rest), p_tree
  );
  return v_bits[1] | logloom_private.position_bits(v_found, p_block.records);
end;
$$;

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
