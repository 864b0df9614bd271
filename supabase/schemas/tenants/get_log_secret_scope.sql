create function public.get_log_secret_scope(p_tenant_id text default null)
returns public.logloom_log_secret_scope
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  return row(v_tenant_id)::public.logloom_log_secret_scope;
end;
$$;

comment on function public.get_log_secret_scope(text) is
  'Returns the tenant whose secrets the caller may seal: {tenant_id}. The edge functions call this '
  'before they seal a secret. For admins. Errors: PT400, PT401, PT403.';
