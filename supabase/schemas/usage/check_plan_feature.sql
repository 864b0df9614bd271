create type public.logloom_plan_feature as (
  enabled boolean,
  "maxCount" integer,
  "currentCount" integer
);

comment on type public.logloom_plan_feature is
  'Whether the plan includes a feature, how many of it, and how many the tenant has.';

-- The plan's answer for a feature (saved_searches, alerts) of the tenant of the request. A tenant
-- that is not provisioned has the default plan.
create function logloom_private.plan_feature(p_feature text)
returns public.logloom_plan_feature
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because a plan counts what a colleague keeps private, too
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_limit constant integer :=
    logloom_private.plan_limit(logloom_private.plan_of(v_tenant_id), p_feature);
begin
  perform logloom_private.require_parameter('p_feature', p_feature is null);
  return row(
    v_limit is not null,
    coalesce(v_limit, 0),
    logloom_private.count_of_feature(v_tenant_id, p_feature)
  );
end;
$$;

grant execute on function logloom_private.plan_feature(text)
to authenticated, service_role;

create function public.check_plan_feature(p_feature text default null)
returns public.logloom_plan_feature
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.plan_feature(p_feature);
end;
$$;

comment on function public.check_plan_feature(text) is
  'Whether the plan includes p_feature (saved_searches, alerts), how many, and how many the tenant '
  'has. An unknown feature is not enabled. Errors: PT400, PT401.';
