-- Compiles the query in a scope (null: that of all) for who takes a filter alone, records (with
-- stages), rows of aggregates, series, or any. PT400 where the query holds what is not taken. In a
-- scope it also warns of damaged blocks.
create function logloom_private.search_query(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_now timestamptz,
  p_takes text
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
  v_makes_rows boolean;
  v_stage text;
begin
  v_query := logloom_private.scoped_query(
    p_scope, logloom_private.compile_query(p_query_dsl, p_now), p_query_dsl
  );
  v_makes_rows := v_query.plan ?| array['aggregates', 'patterns'];
  if v_makes_rows and p_takes in ('filter', 'records') then
    perform logloom_private.refuse(
      'search.query_gives_no_records', coalesce(v_query.aggregate || '()', 'patterns')
    );
  end if;
  v_stage := case p_takes
    when 'filter' then v_query.plan -> 'first' ->> 'stage'
    when 'rows' then case when v_makes_rows then null
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort' end
    when 'series' then case
      when v_query.plan ? 'patterns' then 'patterns'
      when v_query.plan ? 'fields' then 'fields'
      when v_query.plan ? 'limit' then 'limit'
      when v_query.plan ? 'sort' then 'sort'
      when v_query.plan ? 'having' then 'where' end
  end;
  if v_stage is not null then
    perform logloom_private.refuse(
      'search.takes_no_stage',
      case p_takes when 'filter' then 'what acts on all records that are found'
        when 'rows' then 'counting records' else 'a series' end,
      v_stage
    );
  end if;
  -- A page of all records reads no more than it shows: it takes no scan slot.
  if p_takes <> 'records' or v_query.tree <> '{"type": "all"}' or v_query.plan ? 'rows' then
    v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  end if;
  if p_scope.tenant_id is not null then
    v_query.warnings := v_query.warnings || logloom_private.damage_warnings(p_scope.tenant_id);
  end if;
  return v_query;
end;
$$;
