-- Pages that need not decide a whole block.

-- A query's tree without what is read from the texts of a whole block. Null where that is nothing.
create function logloom_private.quick_tree(
  p_block logloom_private.blocks,
  p_node jsonb
)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items jsonb;
begin
  case p_node ->> 'type'
    when 'and', 'or' then
      select jsonb_agg(
        coalesce(logloom_private.quick_tree(p_block, i.item), '{"type": "unknown"}') order by i.n
      )
      into v_items
      from jsonb_array_elements(p_node -> 'items') with ordinality i (item, n);
      return p_node || jsonb_build_object('items', v_items);
    when 'not' then
      return p_node || jsonb_build_object(
        'item',
        coalesce(logloom_private.quick_tree(p_block, p_node -> 'item'), '{"type": "unknown"}')
      );
    when 'leaf' then
      if p_node ->> 'field' in ('service', 'level', 'ts')
        or p_node ->> 'field' in ('env', 'req_id', 'user_id', 'route', 'host')
          and p_node ->> 'test' in ('equal', 'exists') and not p_node ? 'fold'
        or p_node ->> 'field' = 'msg' and p_node ->> 'test' in ('equal', 'exists', 'contains')
        or p_node ->> 'field' = 'attrs' and logloom_private.leaf_is_known(p_node)
          and jsonb_typeof(p_node -> 'path') = 'array' and jsonb_array_length(p_node -> 'path') = 1
          and exists (
            select
            from logloom_private.block_columns c
            where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
              and c.name = 'attrs.' || (p_node -> 'path' ->> 0)
              and c.kind = 'numbers'
          )
      then
        return p_node;
      end if;
      return null;
    else
      return p_node;
  end case;
end;
$$;

-- Of the records that a page can hold those of a block, found by asking the outermost of them one
-- by one: a filter that lets many through need not be decided for all. Null where that is cheaper.
create function logloom_private.tried_positions(
  p_block logloom_private.blocks,
  p_tree jsonb,
  p_filter text,
  p_fields text[],
  p_keys text[],
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
  v_quick_tree constant jsonb := coalesce(
    logloom_private.quick_tree(p_block, p_tree), '{"type": "unknown"}'
  );
  v_tried bigint := 4 * p_limit;
  v_bits varbit;
  v_all integer[];
  v_found integer[];
  v_count integer;
begin
  if v_quick_tree = p_tree then
    return null;
  end if;
  v_bits := (logloom_private.node_bits(p_block, v_quick_tree))[2];
  if bit_count(v_bits) < p_block.records then
    v_all := logloom_private.bit_positions(v_bits);
  end if;
  for v_try in 1..2 loop
    if v_tried > bit_count(v_bits) / 4 then
      return null;
    end if;
    v_found := logloom_private.filtered_positions(
      p_block,
      logloom_private.first_positions(
        p_block, v_all, v_tried::integer, p_is_descending, p_past, p_from, p_to
      ),
      p_filter, p_fields, p_keys
    );
    select count(*) into v_count
    from unnest(logloom_private.block_times(p_block, v_found)) t (ts)
    where t.ts is distinct from p_past;
    if v_count >= p_limit then
      return v_found;
    elsif v_count = 0 then
      return null;
    end if;
    -- As many as hold half as many again as are wanted.
    v_tried := v_tried * p_limit * 3 / 2 / v_count;
  end loop;
  return null;
end;
$$;
