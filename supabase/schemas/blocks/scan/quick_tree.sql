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
      if (p_node -> 'block_quick')::boolean and (
        p_node ->> 'field' <> 'attrs'
        -- An attribute where its column has numbers.
        or exists (
          select
          from logloom_private.block_columns c
          where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
            and c.name = 'attrs.' || (p_node -> 'path' ->> 0)
            and c.kind = 'numbers'
        )
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
