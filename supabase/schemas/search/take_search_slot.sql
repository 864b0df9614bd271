-- The advisory lock that is a slot: of a tenant, 'of ', 'views of ', 'scans of ',
-- 'scans of views of ' or 'validations of ' before its id, or of 'all'.
create function logloom_private.search_slot_key(p_owner text, p_slot integer)
returns bigint
language sql
stable
return hashtextextended('logloom:search_slot ' || p_slot || ' ' || p_owner, 0);

-- What every operation that reads records calls first, once: takes a slot of the tenant and one of
-- the pool until the transaction's end. Readers of views and portals are a tenant's customers: all
-- together they get half of its slots and one scan slot beside its own, so that its members are
-- answered. PT429 with Retry-After where none is free: to wait would hold a connection. Locks, not
-- rows: a transaction that is cancelled, killed or cut off gives them back.
create function logloom_private.take_search_slot(p_scope logloom_private.reading_scope)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := p_scope.tenant_id;
  v_plan constant logloom.plans := logloom_private.plan_of(v_tenant_id);
  v_is_customer constant boolean :=
    p_scope.view_id is not null or p_scope.kind is not distinct from 'portal_session';
  v_own integer;
  v_slots integer;
  v_free_time interval;
begin
  if v_is_customer then
    perform
    from generate_series(1, greatest(1, v_plan.concurrent_searches / 2)) n
    where pg_try_advisory_xact_lock(logloom_private.search_slot_key('views of ' || v_tenant_id, n))
    limit 1;
    if not found then
      perform logloom_private.refuse_for_now(1, 'search.too_many_in_views');
    end if;
  end if;
  -- The first that is free: with "limit" no further one is asked for.
  select n into v_own
  from generate_series(1, v_plan.concurrent_searches) n
  where pg_try_advisory_xact_lock(logloom_private.search_slot_key('of ' || v_tenant_id, n))
  limit 1;
  if v_own is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_of_this_tenant');
  end if;
  -- Half of PostgREST's connections: the rest answers what does not search.
  select greatest(1, s.api_pool_size / 2), s.search_free_time
  into v_slots, v_free_time
  from logloom_private.settings s;
  -- Parallel workers are processors as well: those of the plan's scans, for the first search alone.
  perform set_config(
    'max_parallel_workers_per_gather',
    least(
      current_setting('max_parallel_workers_per_gather')::integer,
      case when v_own = 1 then v_plan.concurrent_scans - 1 else 0 end
    )::text,
    true
  );
  -- The last quarter is for tenants that have nothing running.
  if v_own > 1 then
    v_slots := v_slots - v_slots / 4;
  end if;
  perform
  from generate_series(1, v_slots) n
  where pg_try_advisory_xact_lock(logloom_private.search_slot_key('all', n))
  limit 1;
  if not found then
    perform logloom_private.refuse_for_now(1, 'search.too_many_are_running');
  end if;
  perform set_config(
    'logloom.scan',
    extract(epoch from clock_timestamp() + v_free_time) || ' ' || case
      when v_is_customer then
        logloom_private.search_slot_key('scans of views of ' || v_tenant_id, 0)
      else
        logloom_private.search_slot_key('scans of ' || v_tenant_id, v_own % v_plan.concurrent_scans)
    end,
    true
  );
end;
$$;

-- A query's tree as a boolean expression over the alias l that takes the scan slot while it reads.
-- What an index answers stays outside: a condition within CASE is a filter to the planner.
create function logloom_private.filter_by_scan_slot(p_tree jsonb)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_items constant jsonb := case p_tree ->> 'type'
    when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree)
  end;
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
    case when v_quick is not null
      then logloom_private.query_sql(jsonb_build_object('type', 'and', 'items', v_quick), 'l') end,
    'case when uuid_hash(l.id) & 255 <> 0 or logloom_private.take_scan_slot(' || v_scan || ') then '
      || case when v_costly is null then 'true' else logloom_private.query_sql(
        jsonb_build_object('type', 'and', 'items', v_costly), 'l'
      ) end || ' end'
  ) || ')';
end;
$$;
