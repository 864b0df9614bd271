create function public.get_current_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result constant public.logloom_tenant := logloom_private.tenant_with_plan(v_tenant_id);
begin
  if v_result.tenant_id is null then
    perform logloom_private.refuse('tenants.not_found');
  end if;
  return v_result;
end;
$$;

comment on function public.get_current_tenant(text) is
  'The tenant with its plan and limits. Errors: PT400, PT401, PT403, PT404.';
