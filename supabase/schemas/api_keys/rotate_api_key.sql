create function public.rotate_api_key(
  p_tenant_id text default null,
  p_key_id uuid default null,
  p_overlap_minutes integer default null,
  p_view_id uuid default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_overlap constant integer := coalesce(p_overlap_minutes, 60);
  v_old record;
  v_result public.logloom_created_api_key;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  if v_overlap not between 0 and 10080 then
    perform logloom_private.refuse('api_keys.overlap_is_out_of_range');
  end if;
  select k.name, k.scopes, k.expires_at, k.lifetime, k.revoked_at, k.view_id into v_old
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id
  for no key update;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  if logloom_private.api_key_status(v_old.revoked_at, v_old.expires_at) <> 'active' then
    perform logloom_private.refuse('api_keys.not_active');
  end if;
  perform logloom_private.require_view_for_key(p_tenant_id, p_view_id, v_old.scopes);

  -- The new key has the lifetime of the old one. Both work during the overlap, even if the plan has
  -- no room for another key.
  perform logloom_private.require_room_for_api_key(p_tenant_id, 2);
  v_result := logloom_private.issue_api_key(
    v_tenant_id, v_old.name, now() + v_old.lifetime, v_old.scopes,
    coalesce(p_view_id, v_old.view_id)
  );
  update logloom.api_keys k
  set expires_at = least(k.expires_at, now() + make_interval(mins => v_overlap))
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  return v_result;
end;
$$;

comment on function public.rotate_api_key(text, uuid, integer, uuid) is
  'Creates an API key that replaces another, with the same name, scopes, view and lifetime. Only '
  'this answer has key_value. The old key works for p_overlap_minutes more (0 to 10080, default '
  '60). p_view_id: another view for the new key. Errors: PT400, PT401, PT403, PT404.';
