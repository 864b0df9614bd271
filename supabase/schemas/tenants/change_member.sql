-- Gives a member another role, or with p_is_removed takes the user out of the tenant; answers the
-- member as it is or was. The last owner stays one.
create function logloom_private.change_member(
  p_tenant_id text,
  p_user_id text,
  p_role text,
  p_is_removed boolean default false,
  p_view_id uuid default null
)
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
  perform logloom_private.require_member_role(p_role, p_view_id);
  perform logloom_private.lock_members(v_tenant_id);
  perform logloom_private.hold_view(v_tenant_id, p_view_id);
  select m.* into v_member
  from logloom.tenant_members m
  where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  if not found then
    perform logloom_private.refuse('tenants.member_not_found');
  end if;
  if v_member.role = 'owner' and p_role <> 'owner' and not exists (
    select from logloom.tenant_members m
    where m.tenant_id = v_tenant_id and m.role = 'owner' and m.user_id <> p_user_id
  ) then
    perform logloom_private.refuse('tenants.last_owner_stays');
  end if;
  if p_is_removed then
    delete from logloom.tenant_members m
    where m.tenant_id = v_tenant_id and m.user_id = p_user_id;
  else
    update logloom.tenant_members m set role = p_role, view_id = p_view_id
    where m.tenant_id = v_tenant_id and m.user_id = p_user_id
    returning m.* into v_member;
  end if;
  return logloom_private.member_of(v_member);
end;
$$;
