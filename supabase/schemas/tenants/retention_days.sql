-- What the tenant chose, else the default of its plan, never more than the plan allows.
create function logloom_private.retention_in_force(
  p_chosen integer,
  p_plan_default integer,
  p_plan_max integer
)
returns integer
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return least(coalesce(p_chosen, p_plan_default), p_plan_max);
end;
$$;

grant execute on function logloom_private.retention_in_force(integer, integer, integer)
to authenticated, service_role;

-- The retention in force, in days: what the tenant set, else the default of its plan, never more
-- than the plan allows. Of a tenant that is not there yet: the default plan's. p_plan is given
-- where the caller has it at hand.
create function logloom_private.retention_days(
  p_tenant_id text,
  p_plan logloom.plans default null
)
returns integer
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_plan constant logloom.plans := coalesce(p_plan, logloom_private.plan_of(p_tenant_id));
begin
  return logloom_private.retention_in_force(
    (select s.retention_days from logloom.tenant_settings s where s.tenant_id = p_tenant_id),
    v_plan.retention_days_default,
    v_plan.retention_days_max
  );
end;
$$;

grant execute on function logloom_private.retention_days(text, logloom.plans)
to authenticated, service_role;

-- What is older the tenant does not keep: retention_days whole UTC days before today.
create function logloom_private.kept_from(
  p_tenant_id text,
  p_plan logloom.plans default null
)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.day_start(
    logloom_private.utc_day(now()) - logloom_private.retention_days(p_tenant_id, p_plan)
  );
end;
$$;

-- From when on the tenant keeps records of a range that begins at p_from.
create function logloom_private.kept_since(p_tenant_id text, p_from timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Everybody keeps a day at least: of the last day nobody's retention need be asked for.
  if p_from >= now() - interval '24 hours' then
    return p_from;
  end if;
  return greatest(p_from, logloom_private.kept_from(p_tenant_id));
end;
$$;

-- The first UTC day whose records retention leaves to the tenant, were it p_today.
create function logloom_private.first_kept_day(p_tenant_id text, p_today date)
returns date
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return p_today - logloom_private.retention_days(p_tenant_id);
  end if;
  -- A tenant that is gone keeps nothing but what may still be on its way.
  return p_today;
end;
$$;

-- first_kept_day of every tenant, at once.
create function logloom_private.first_kept_days(p_today date)
returns table (tenant_id text, first_kept_day date)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    t.tenant_id,
    p_today - logloom_private.retention_in_force(
      s.retention_days, p.retention_days_default, p.retention_days_max
    )
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id;
end;
$$;
