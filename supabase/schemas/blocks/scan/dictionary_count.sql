-- How many records of blocks_with_dictionary a leaf finds. Without a value a leaf is never true.
create function logloom_private.dictionary_count(
  p_tenant_id text,
  p_blocks bigint[],
  p_leaf jsonb
)
returns bigint
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_key constant text := p_leaf -> 'path' ->> 0;
  v_events bigint;
begin
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
    p_leaf ->> 'field', coalesce('attrs.' || v_key, p_leaf ->> 'field'),
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_events
  using p_tenant_id, p_blocks;
  return v_events;
end;
$$;
