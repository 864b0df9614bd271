-- Returns the key of a slot's advisory lock. p_owner: 'all', or the tenant's id after 'of ', 'views
-- of ', 'scans of ' or 'scans of views of ', or the reader after 'validations of '.
create function logloom_private.search_slot_key(p_owner text, p_slot integer)
returns bigint
language sql
stable
return hashtextextended('logloom:search_slot ' || p_slot || ' ' || p_owner, 0);

-- Takes a slot of the tenant and one of the pool until the transaction ends. Every operation that
-- reads records calls this first, once. Readers of views and portals are a tenant's customers.
-- Together they get half of the tenant's slots, at most half of all slots, and one extra scan slot.
-- Members can still search. PT429 with Retry-After if no slot is free: waiting would occupy a
-- connection. A slot is an advisory lock, not a row: a cancelled or killed transaction releases it.
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
  -- Searches get half of PostgREST's connections. The other half answers other requests.
  select greatest(1, s.api_pool_size / 2), s.search_free_time
  into v_slots, v_free_time
  from logloom_private.settings s;
  if v_is_customer then
    perform
    from generate_series(1, greatest(1, least(v_plan.concurrent_searches, v_slots) / 2)) n
    where pg_try_advisory_xact_lock(logloom_private.search_slot_key('views of ' || v_tenant_id, n))
    limit 1;
    if not found then
      perform logloom_private.refuse_for_now(1, 'search.too_many_in_views');
    end if;
  end if;
  -- Takes the first free slot. Without "limit" the query would take all free slots.
  select n into v_own
  from generate_series(1, v_plan.concurrent_searches) n
  where pg_try_advisory_xact_lock(logloom_private.search_slot_key('of ' || v_tenant_id, n))
  limit 1;
  if v_own is null then
    perform logloom_private.refuse_for_now(1, 'search.too_many_of_this_tenant');
  end if;
  -- Parallel workers use processors, too. So only the tenant's first search gets them. It runs in
  -- as many processes as the plan has scan slots.
  perform set_config(
    'max_parallel_workers_per_gather',
    least(
      current_setting('max_parallel_workers_per_gather')::integer,
      case when v_own = 1 then v_plan.concurrent_scans - 1 else 0 end
    )::text,
    true
  );
  -- The last quarter of the slots is for tenants without a running search.
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

-- Builds a boolean SQL expression for a tree. l is the record's alias. Evaluating the expression
-- takes the scan slot. Conditions with an index stay outside of CASE: the planner uses no index
-- within CASE.
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
  -- The setting becomes part of the SQL text: a node does not know this transaction's settings.
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
      -- Null for an item that is not a leaf. "is not true" above makes such an item costly.
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
