-- How many records a leaf finds in those of the blocks in which the counts of a dictionary tell it;
-- in none where the tree is not one leaf over one column. Without a value a leaf is never true.
create function logloom_private.dictionary_count(
  p_tenant_id text,
  p_blocks bigint[],
  p_leaf jsonb,
  out o_blocks bigint[],
  out o_events bigint
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_key constant text := p_leaf -> 'path' ->> 0;
  v_column constant text := coalesce('attrs.' || v_key, p_leaf ->> 'field');
begin
  o_blocks := array(
    select c.block_id
    from logloom_private.blocks c
    where c.tenant_id = p_tenant_id and c.block_id = any(p_blocks)
      and p_leaf ->> 'decided_by' in ('dictionary', 'numbers') and p_leaf ->> 'joined' is null
      and not exists (
        select
        from logloom_private.block_columns k
        where k.tenant_id = p_tenant_id and k.block_id = c.block_id
          and (
            k.name = v_column and k.kind <> 'dictionary'
            -- Keys that have no column.
            or v_key is not null and k.name = 'attrs'
              and (k.kind <> 'dictionary' or k.dictionary <> array['{}'])
          )
      )
  );
  if o_blocks = '{}' then
    return;
  end if;
  execute format(
    $query$
      select coalesce(sum(l.count), 0)
      from (
        select %1$s as %2$I, d.count
        from logloom_private.block_columns k
        cross join lateral unnest(k.dictionary, k.counts) d (value, count)
        where k.tenant_id = $1 and k.block_id = any($2) and k.name = %3$L
      ) l
      where %4$s
    $query$,
    case when v_key is not null
      then format('jsonb_build_object(%L::text, d.value::jsonb)', v_key) else 'd.value' end,
    p_leaf ->> 'field', v_column, logloom_private.query_sql(p_leaf, 'l')
  )
  into o_events
  using p_tenant_id, o_blocks;
end;
$$;
