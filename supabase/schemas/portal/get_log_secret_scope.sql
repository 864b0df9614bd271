-- Returns whose secrets a caller may seal, for public.get_log_secret_scope. A session may seal
-- secrets of things that its parts let it create.
create function logloom_private.read_secret_scope(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_purpose text
)
returns public.logloom_log_secret_scope
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role makes scopes
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'get_log_secret_scope', p_tenant_id, 'admin');
begin
  if v_scope.kind <> 'token' and (
    case p_purpose when 'log_stream' then 'create_log_stream'
      when 'alert_rule' then 'create_alert_rule' end = any (v_scope.operations)
  ) is not true
  then
    perform logloom_private.refuse('callers.operation_is_outside', 'get_log_secret_scope');
  end if;
  return row(v_scope.tenant_id, v_scope.customer)::public.logloom_log_secret_scope;
end;
$$;

create function public.get_log_secret_scope(
  p_tenant_id text default null,
  p_purpose text default null
)
returns public.logloom_log_secret_scope
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.read_secret_scope(null, p_tenant_id, p_purpose);
end;
$$;

comment on function public.get_log_secret_scope(text, text) is
  'Returns whose secrets the caller may seal: {tenant_id, customer}. The edge functions call this '
  'before they seal a secret. For admins, and for portal sessions that may create what p_purpose '
  'names (log_stream or alert_rule). Errors: PT400, PT401, PT403.';
