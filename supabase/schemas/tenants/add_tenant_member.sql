-- Enrolls a user, and in the first place who does so; what public.add_tenant_member answers.
create function logloom_private.enroll_member(
  p_tenant_id text,
  p_user_id text,
  p_role text,
  p_email text,
  p_view_id uuid
)
returns public.logloom_member
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes members
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_email constant text := nullif(logloom_private.trim_space(p_email), '');
  v_caller text;
  v_user_id text := p_user_id;
  v_members integer;
  v_max integer;
  v_added logloom.tenant_members;
begin
  perform logloom_private.require_role(v_tenant_id, 'owner');
  perform logloom_private.require_parameter('p_role', p_role is null);
  perform logloom_private.require_member_role(p_role, p_view_id);
  if length(v_email) > 320 then
    perform logloom_private.refuse('tenants.email_is_too_long');
  end if;
  if v_user_id is null then
    perform logloom_private.require_parameter('p_user_id', v_email is null);
    v_user_id := logloom_private.auth_user_of_email(v_email);
  end if;
  if logloom_private.usable_id(v_user_id) is null then
    perform logloom_private.refuse('tenants.user_id_is_invalid');
  end if;
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  perform logloom_private.lock_members(v_tenant_id);
  perform logloom_private.hold_view(v_tenant_id, p_view_id);

  select count(*) into v_members
  from logloom.tenant_members m where m.tenant_id = v_tenant_id;
  if v_members = 0 and logloom_private.is_service_role() then
    if p_role <> 'owner' then
      perform logloom_private.refuse('tenants.first_member_is_owner');
    end if;
  elsif v_members = 0 then
    -- From here on the tenant uses roles: who set that off must not be locked out by it.
    v_caller := logloom_private.require_user_id();
    insert into logloom.tenant_members (tenant_id, user_id, role)
    values (v_tenant_id, v_caller, 'owner');
    v_members := 1;
  end if;
  v_max := (logloom_private.plan_of(v_tenant_id)).max_members;
  if v_members >= v_max and v_user_id is distinct from v_caller then
    perform logloom_private.refuse('tenants.no_room_for_member', v_max::text);
  end if;

  if v_user_id = v_caller then
    -- A tenant's first member is its owner, whatever they asked for.
    update logloom.tenant_members m set email = v_email
    where m.tenant_id = v_tenant_id and m.user_id = v_user_id
    returning m.* into v_added;
  else
    insert into logloom.tenant_members as m (tenant_id, user_id, role, email, view_id)
    values (v_tenant_id, v_user_id, p_role, v_email, p_view_id)
    on conflict do nothing
    returning m.* into v_added;
    if not found then
      perform logloom_private.refuse('tenants.already_a_member');
    end if;
  end if;
  return logloom_private.member_of(v_added);
end;
$$;

create function public.add_tenant_member(
  p_user_id text default null,
  p_role text default null,
  p_email text default null,
  p_tenant_id text default null,
  p_view_id uuid default null
)
returns public.logloom_member
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.enroll_member(p_tenant_id, p_user_id, p_role, p_email, p_view_id);
end;
$$;

comment on function public.add_tenant_member(text, text, text, text, uuid) is
  'Adds a user to the tenant and returns the member. p_user_id: the claim sub of their tokens; by '
  'p_email alone where Supabase Auth knows a user with it. p_role: viewer, member, admin or '
  'owner. p_view_id: the view that a viewer reads in. For owners. The first member makes its '
  'caller owner too, and from then on nobody else belongs to the tenant. '
  'Errors: PT400 (plan limit, too), PT401, PT403, PT404.';
