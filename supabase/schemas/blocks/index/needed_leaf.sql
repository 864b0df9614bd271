-- The first leaf without which a query finds no record and which names values of a field that is
-- one thing among many, a request above all, an environment hardly ever; null where there is none.
create function logloom_private.needed_leaf(p_tree jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select i.leaf
    from jsonb_array_elements(
      case p_tree ->> 'type' when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree) end
    ) with ordinality i (leaf, n)
    join unnest(logloom_private.record_fields()) with ordinality f on f.name = i.leaf ->> 'field'
    where f.block = 'column' and i.leaf ->> 'test' = 'equal'
      and not (i.leaf -> 'folds_case')::boolean
    order by f.bloom is not true, f.name = 'env', f.ordinality, i.n
    limit 1
  );
end;
$$;
