-- Those of the blocks in which the counts of a dictionary answer a leaf; none where the tree is not
-- one leaf over one column.
create function logloom_private.blocks_with_dictionary(
  p_tenant_id text,
  p_blocks bigint[],
  p_leaf jsonb
)
returns bigint[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_attribute constant boolean := p_leaf ->> 'field' = 'attrs';
  v_column constant text := case when p_leaf ->> 'field' = 'attrs'
    then 'attrs.' || (p_leaf -> 'path' ->> 0) else p_leaf ->> 'field' end;
begin
  if (p_leaf ->> 'decided_by' in ('dictionary', 'numbers')) is not true
    or p_leaf ->> 'joined' is not null
  then
    return '{}';
  end if;
  return array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks) and not exists (
      select
      from logloom_private.block_columns k
      where k.tenant_id = p_tenant_id and k.block_id = c.block_id
        and (
          k.name = v_column and k.kind <> 'dictionary'
          -- Keys that have no column.
          or v_is_attribute and k.name = 'attrs'
            and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
        )
    )
  );
end;
$$;
