-- How many of a feature (saved_searches, alerts) a plan includes; null where it does not include
-- it, or there is no such feature.
create function logloom_private.plan_limit(p_plan logloom.plans, p_feature text)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_feature
    when 'saved_searches' then case when p_plan.saved_searches then p_plan.max_saved_searches end
    when 'alerts' then case when p_plan.alerts then p_plan.max_alerts end
  end;
end;
$$;

-- Provisions the tenant and holds it until the transaction ends: two creates cannot both count
-- before either is done, and so take the last place of a plan.
create function logloom_private.hold_tenant(p_tenant_id text)
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.provision_tenant(p_tenant_id, logloom_private.claims());
  perform from logloom.tenants t where t.tenant_id = p_tenant_id for no key update;
end;
$$;

-- PT400 when the plan of a tenant that has p_current of a feature has no room for one more.
create function logloom_private.refuse_beyond_plan(
  p_tenant_id text,
  p_feature text,
  p_current integer
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant integer := coalesce(
    logloom_private.plan_limit(logloom_private.plan_of(p_tenant_id), p_feature), 0
  );
begin
  if p_current >= v_limit then
    perform logloom_private.refuse('tenants.plan_has_no_room', p_feature, v_limit::text);
  end if;
end;
$$;
