create function public.get_tenant_settings(p_tenant_id text default null)
returns public.logloom_tenant_settings
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result public.logloom_tenant_settings;
begin
  v_result := logloom_private.effective_settings(v_tenant_id);
  v_result.stored := logloom_private.my_stored(p_tenant_id);
  return v_result;
end;
$$;

comment on function public.get_tenant_settings(text) is
  'The settings in force: what the tenant set, else the defaults of its plan; and stored, what its '
  'records take on disk. '
  'Errors: PT400, PT401, PT403, PT404.';
