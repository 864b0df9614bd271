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
  select greatest(1, floor(s.api_pool_size * s.search_pool_share)), s.search_free_time
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
