create function public.revoke_api_key(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  update logloom.api_keys k
  set revoked_at = coalesce(k.revoked_at, now())
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.revoke_api_key(text, uuid) is
  'Revokes an API key; the next request with it is refused. Revoking it again changes nothing. '
  'Errors: PT400, PT401, PT403, PT404.';
