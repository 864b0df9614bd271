-- A query's tree as a boolean expression over the alias l that takes the scan slot while it reads.
-- p_filter: the expression of the whole tree, where it is known. What an index answers stays
-- outside: a condition within CASE is a filter to the planner.
create function logloom_private.filter_by_scan_slot(p_tree jsonb, p_filter text default null)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
  v_filter constant text := coalesce(p_filter, logloom_private.query_sql(p_tree, 'l'));
  -- In the text: where records are sharded, who reads them knows no setting of this transaction.
  v_scan constant text := quote_nullable(current_setting('logloom.scan', true));
  v_quick jsonb;
  v_costly jsonb;
begin
  select
    jsonb_agg(i.item order by i.n) filter (where i.is_quick),
    jsonb_agg(i.item order by i.n) filter (where i.is_quick is not true)
  into v_quick, v_costly
  from (
    select
      e.item,
      e.n,
      -- Null where a node is no leaf: each item stands on one of the two sides.
      e.item ->> 'type' = 'none' or (e.item -> 'rows_index')::boolean as is_quick
    from jsonb_array_elements(v_items) with ordinality e (item, n)
  ) i;
  return '(' || concat_ws(
    ' and ',
    case
      when v_costly is null then v_filter
      when v_quick is not null
        then logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_quick), 'l')
    end,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_scan_slot(' || v_scan || ') then '
      || case
        when v_quick is null then v_filter
        when v_costly is null then 'true'
        else logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_costly), 'l')
      end || ' end'
  ) || ')';
end;
$$;
