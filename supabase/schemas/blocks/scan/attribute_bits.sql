-- A leaf over attrs: a bit a record.
create function logloom_private.attribute_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys constant text[] := array_remove(
    array[p_leaf -> 'path' ->> 0, p_leaf ->> 'joined'], null
  );
  v_column logloom_private.block_columns;
  v_rest text[];
  v_count integer := 0;
  v_found logloom_private.block_columns;
  v_bits text;
begin
  for v_column in
    select c.*
    from logloom_private.block_columns c
    where c.tenant_id = p_block.tenant_id and c.block_id = p_block.block_id
      and c.name = any(array_prepend('attrs', array(select 'attrs.' || k from unnest(v_keys) k)))
  loop
    if v_column.name = 'attrs' then
      v_rest := case when v_column.kind = 'dictionary' then v_column.dictionary else '{[]}' end;
    else
      v_count := v_count + 1;
      v_found := v_column;
    end if;
  end loop;
  if v_count = 1 and v_rest = array['{}'] then
    return logloom_private.column_bits(v_found, p_leaf, p_block.records);
  elsif v_count = 0 and coalesce(v_rest, '{}') <@ array['{}'] then
    return repeat(
      logloom_private.tested_values(
        logloom_private.query_sql(p_leaf, 'l'), 'attrs', '', array[null::text]
      ),
      p_block.records
    )::varbit;
  end if;
  execute format(
    $query$
      select string_agg(case when (%s) is true then '1' else '0' end, '' order by l.n)
      from unnest($1) with ordinality l (attrs, n)
    $query$,
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_bits
  using logloom_private.block_attributes(p_block, null, v_keys);
  return v_bits::varbit;
end;
$$;
