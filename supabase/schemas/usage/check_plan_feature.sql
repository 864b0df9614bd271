-- Returns a feature in the plan of the request's tenant.
create function logloom_private.plan_feature(p_feature text)
returns public.logloom_plan_feature
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because a plan also counts private saved searches of colleagues
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  perform logloom_private.require_parameter('p_feature', p_feature is null);
  return logloom_private.feature_of(v_tenant_id, p_feature);
end;
$$;

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
  'Tells whether the plan includes p_feature (saved_searches, alerts), its limit, and how many are '
  'in use. An unknown feature is not enabled. Errors: PT400, PT401.';
