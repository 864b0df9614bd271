-- Returns a tenant as operations show it. All members are null if the tenant does not exist.
create function logloom_private.tenant_with_plan(p_tenant_id text)
returns public.logloom_tenant
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result public.logloom_tenant;
begin
  select
    t.tenant_id, p.plan_id, p.plan_name, t.created_at,
    p.monthly_events_limit, p.monthly_bytes_limit,
    row(p.saved_searches, p.max_saved_searches, p.alerts, p.max_alerts)
  into v_result
  from logloom.tenants t
  cross join lateral logloom_private.plan_of(t.tenant_id) p
  where t.tenant_id = p_tenant_id;
  return v_result;
end;
$$;

-- Returns the plan of a tenant; the default plan if the tenant does not exist yet.
create function logloom_private.plan_of(p_tenant_id text)
returns logloom.plans
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan logloom.plans;
begin
  select p.* into v_plan
  from logloom.plans p
  where p.plan_id = coalesce(
    (select t.plan_id from logloom.tenants t where t.tenant_id = p_tenant_id),
    (select d.plan_id from logloom.plans d where d.is_default)
  );
  return v_plan;
end;
$$;

-- Returns whether a tenant's plan has a feature (saved_searches or alerts), how many items it
-- allows, and how many items the tenant has, including private items. Before its first write a
-- tenant has the default plan.
create function logloom_private.feature_of(p_tenant_id text, p_feature text)
returns public.logloom_plan_feature
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := logloom_private.plan_of(p_tenant_id);
  v_feature public.logloom_plan_feature := row(false, 0, 0);
begin
  if p_feature in ('saved_searches', 'alerts') then
    execute format(
      'select ($1).%1$I, ($1).%1$I::integer * ($1).%2$I, count(*) from logloom.%3$I t '
        'where t.tenant_id = $2',
      p_feature, 'max_' || p_feature,
      case p_feature when 'alerts' then 'alert_rules' else p_feature end
    )
    into v_feature
    using v_plan, p_tenant_id;
  end if;
  return v_feature;
end;
$$;

-- Returns the effective settings of a tenant. Raises PT404 before the tenant's first write.
create function logloom_private.effective_settings(p_tenant_id text)
returns public.logloom_tenant_settings
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_result public.logloom_tenant_settings;
begin
  select
    t.tenant_id,
    row(logloom_private.retention_days(t.tenant_id), coalesce(s.compression, true)),
    row(coalesce(s.email_enabled, true), coalesce(s.webhook_enabled, true)),
    null,
    coalesce(s.retention_rules, '{}')
  into v_result
  from logloom.tenants t
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id
  where t.tenant_id = p_tenant_id;
  if not found then
    perform logloom_private.refuse('tenants.settings_not_found');
  end if;
  return v_result;
end;
$$;

-- Creates the tenant of the request if needed and locks it. Raises PT400 if its plan has no room
-- for another saved_search or alert (p_feature).
create function logloom_private.require_room_for(p_feature text, p_tenant_id text default null)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may lock a tenant or count the private items of colleagues
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_feature public.logloom_plan_feature;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  v_feature := logloom_private.feature_of(v_tenant_id, p_feature);
  if v_feature."currentCount" >= v_feature."maxCount" then
    perform logloom_private.refuse(
      'tenants.plan_has_no_room', p_feature, v_feature."maxCount"::text
    );
  end if;
end;
$$;
