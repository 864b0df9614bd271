-- Changes a role, but not that of the last owner.
create function logloom_private.change_member_role(p_tenant_id text, p_user_id text, p_role text)
returns public.logloom_member
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_member logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_parameter('p_user_id', p_user_id is null);
  perform logloom_private.require_parameter('p_role', p_role is null);
  perform logloom_private.require_member_role(p_role);
  perform logloom_private.lock_members(v_tenant_id);
  select m.* into v_member
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if p_role <> 'owner' and v_member.role = 'owner' then
    perform logloom_private.require_other_owner(v_tenant_id, p_user_id);
  end if;
  update logloom.tenant_members m set role = p_role
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id
  returning m.* into v_member;
  return logloom_private.member_of(v_member);
end;
$$;

grant execute on function logloom_private.change_member_role(text, text, text)
to authenticated, service_role;

create function public.set_tenant_member_role(
  p_user_id text default null,
  p_role text default null,
  p_tenant_id text default null
)
returns public.logloom_member
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_member_role(p_tenant_id, p_user_id, p_role);
end;
$$;

comment on function public.set_tenant_member_role(text, text, text) is
  'Sets what a member may do, from their next request on, and returns the member. p_role: member, '
  'admin or owner. For owners; the last one stays an owner. '
  'Errors: PT400, PT401, PT403, PT404.';
