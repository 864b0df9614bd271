create function public.get_tenant_settings(p_tenant_id text default null)
returns public.logloom_tenant_settings
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return logloom_private.effective_settings(logloom_private.resolve_tenant(p_tenant_id));
end;
$$;

revoke all on function public.get_tenant_settings(text)
from public, anon, authenticated, service_role;

grant execute on function public.get_tenant_settings(text)
to authenticated, service_role;

comment on function public.get_tenant_settings(text) is
  'The settings in force: what the tenant set, else the defaults of its plan. '
  'Errors: PT400, PT401, PT403, PT404.';
