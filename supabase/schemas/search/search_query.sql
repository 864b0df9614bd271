-- Raises PT400: p_stage would need more than p_bound of p_what (records, groups or buckets).
create function logloom_private.refuse_stage_bound(p_stage text, p_bound integer, p_what text)
returns boolean
language plpgsql
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.refuse('search.stage_met_its_bound', p_stage, p_bound::text, p_what);
  return null;
end;
$$;

-- Narrows the query to p_range, to its own terms on ts, and to the tenant's retention. With p_ts,
-- only times after p_ts (before it, if p_order is desc) stay.
create function logloom_private.bound_query(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_range tstzrange,
  p_order text default 'desc',
  p_ts timestamptz default null
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_query.ts_from := logloom_private.kept_from(
    p_tenant_id,
    greatest(lower(p_range), p_query.ts_from, case when p_order = 'asc' then p_ts end)
  );
  p_query.ts_to := least(
    upper(p_range), p_query.ts_to,
    case when p_order = 'desc' then p_ts + interval '1 microsecond' end
  );
  return p_query;
end;
$$;

-- Narrows a query to a scope: adds the scope's filter to its tree, and removes hidden fields from
-- the tree. The caller builds the SQL of the filter. PT400 if the query names a hidden field.
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
begin
  if p_scope.filter is null and p_scope.hidden_fields is null then
    return p_query;
  end if;
  p_query.names_now := p_query.names_now or p_scope.names_now is true;
  perform logloom_private.refuse_hidden_fields(p_query, p_query_dsl, p_scope.hidden_fields);
  p_query.hidden_fields := p_scope.hidden_fields;
  if p_query.hidden_fields is not null then
    p_query.tree := logloom_private.tree_without(p_query.tree, p_query.hidden_fields);
  end if;
  -- Joins the items of both trees in one AND. filter_by_scan_slot looks there for items with an
  -- index.
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
  return p_query;
end;
$$;

-- Returns the query that finds all records of a scope.
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
  v_query.plan := '{}';
  v_query := logloom_private.scoped_query(p_scope, v_query, '');
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  return v_query;
end;
$$;

-- Compiles a query in a scope (null: no limits). Warns of damaged blocks if the scope has a tenant.
-- p_takes: what the caller supports: filter, records (with stages), rows (of aggregates), series,
-- or any. PT400 if the query needs more.
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
    p_scope, logloom_private.parse_query(p_query_dsl, p_now), p_query_dsl
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
  -- A page without a filter reads only what it shows, so it needs no scan slot.
  v_query.filter := case
    when p_takes = 'records' and v_query.tree = '{"type": "all"}' and not v_query.plan ? 'rows'
      then 'true'
    else logloom_private.filter_by_scan_slot(v_query.tree)
  end;
  if p_scope.tenant_id is not null then
    v_query.warnings := v_query.warnings || logloom_private.damage_warnings(p_scope.tenant_id);
  end if;
  return v_query;
end;
$$;

-- Returns a query warning if ingest rules sampled events of p_range, otherwise []. Sampled events
-- are counted by the hour of receipt. Events received more than an hour after their ts are missed.
create function logloom_private.sampling_warnings(p_tenant_id text, p_range tstzrange)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  perform
  from logloom.ingest_rule_hours h
  where h.tenant_id = p_tenant_id and h.sampled > 0
    and h.hour > lower(p_range) - interval '1 hour' and h.hour < upper(p_range) + interval '1 hour'
  limit 1;
  return case
    when found then jsonb_build_array(jsonb_build_object(
      'position', null,
      'message', '≈ ingest rules sampled events in this range: to estimate all events, count() by '
        '@sample_rate and divide each count by its rate',
      'suggestion', ''
    ))
    else '[]'
  end;
end;
$$;
