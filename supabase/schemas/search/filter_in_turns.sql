-- What an index answers stays outside: a condition within CASE is a filter to the planner.
create function logloom_private.filter_in_turns(p_tree jsonb)
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  v_quick text;
  v_costly text;
begin
  -- A node knows nothing of the others' locks.
  if logloom_private.is_spread() then
    return logloom_private.query_sql(p_tree, 'l');
  end if;
  select
    string_agg(logloom_private.query_sql(i.item, 'l'), ' and ' order by i.n)
      filter (where i.is_quick),
    string_agg(logloom_private.query_sql(i.item, 'l'), ' and ' order by i.n)
      filter (where i.is_quick is not true)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      -- Null where a node lacks the member: each item stands on one of the two sides.
      e.item ->> 'type' = 'none' or (
        e.item ->> 'type' = 'leaf'
        and e.item ->> 'field' not in ('attrs', 'any')
        and e.item ->> 'test' in ('equal', 'exists', 'within', 'range')
      ) as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    v_quick,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_turn() then '
      || coalesce(v_costly, 'true') || ' end'
  ) || ')';
end;
$$;

revoke all on function logloom_private.filter_in_turns(jsonb) from public;

comment on function logloom_private.filter_in_turns(jsonb) is
  'A query''s tree as a boolean expression over the alias l that takes its turn while it reads.';
