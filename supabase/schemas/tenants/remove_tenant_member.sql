-- Takes a user out of the tenant, but not its last owner.
create function logloom_private.expel_member(p_tenant_id text, p_user_id text)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_role text;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_parameter('p_user_id', p_user_id is null);
  perform logloom_private.lock_members(v_tenant_id);
  select m.role into v_role
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if v_role = 'owner' then
    perform logloom_private.require_other_owner(v_tenant_id, p_user_id);
  end if;
  delete from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  return row(true)::public.logloom_success;
end;
$$;

grant execute on function logloom_private.expel_member(text, text)
to authenticated, service_role;

create function public.remove_tenant_member(
  p_user_id text default null,
  p_tenant_id text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.expel_member(p_tenant_id, p_user_id);
end;
$$;

comment on function public.remove_tenant_member(text, text) is
  'Removes a user from the tenant: their tokens are refused from the next request on. For owners; '
  'the last one cannot be removed. Returns {success}. Errors: PT400, PT401, PT403, PT404.';
