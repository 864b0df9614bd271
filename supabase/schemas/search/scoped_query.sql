-- A query in a scope: joined as a tree with what the scope lets read, without its hidden fields.
-- PT400 where it names one of them.
create function logloom_private.scoped_query(
  p_scope logloom_private.reading_scope,
  p_query logloom_private.compiled_query,
  p_query_dsl text
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree jsonb;
begin
  if p_scope.filter is null and p_scope.hidden_fields is null then
    return p_query;
  end if;
  perform logloom_private.refuse_hidden_fields(p_query, p_query_dsl, p_scope.hidden_fields);
  p_query.hidden_fields := p_scope.hidden_fields;
  if p_query.hidden_fields is not null then
    v_tree := logloom_private.tree_without_any(p_query.tree);
    p_query.masked_tree := nullif(p_query.tree, v_tree);
    p_query.tree := v_tree;
  end if;
  -- The items of both side by side: what an index answers is looked for among them.
  select case when count(*) = 1 then (array_agg(i.item))[1]
    else jsonb_build_object('type', 'and', 'items', jsonb_agg(i.item order by t.n, i.n)) end
  into p_query.tree
  from unnest(array[p_query.tree, coalesce(p_scope.filter, '{"type": "all"}')])
    with ordinality t (tree, n)
  cross join lateral jsonb_array_elements(
    case t.tree ->> 'type' when 'and' then t.tree -> 'items' when 'all' then '[]'
      else jsonb_build_array(t.tree) end
  ) with ordinality i (item, n);
  if p_query.tree = '{"type": "and", "items": null}' then
    p_query.tree := '{"type": "all"}';
  end if;
  p_query.filter := logloom_private.query_sql(p_query.tree, 'l');
  return p_query;
end;
$$;

-- All records of a scope.
create function logloom_private.query_of_scope(p_scope logloom_private.reading_scope)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  v_query.tree := '{"type": "all"}';
  v_query.filter := 'true';
  v_query.plan := '{}';
  return logloom_private.scoped_query(p_scope, v_query, '');
end;
$$;
