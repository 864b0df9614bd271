create function public.list_api_keys(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_api_key
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'API key', 'key_id',
    (
      select k.created_at from logloom.api_keys k
      where k.tenant_id = v_tenant_id and k.key_id = p_after
    )
  );
begin
  return query
  select
    k.key_id, k.tenant_id, k.name, k.key_prefix, k.scopes,
    logloom_private.api_key_status(k.revoked_at, k.expires_at),
    k.created_at, k.last_used_at, k.expires_at, k.revoked_at, k.view_id
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id
    and (p_after is null or (k.created_at, k.key_id) < (v_after, p_after))
  order by k.created_at desc, k.key_id desc
  limit v_limit;
end;
$$;

comment on function public.list_api_keys(text, integer, uuid) is
  'API keys of the tenant, newest first, without their values. p_limit: 1 to 1000 (default 100). '
  'p_after: key_id of the last item of the page before. Errors: PT400, PT401, PT403.';
