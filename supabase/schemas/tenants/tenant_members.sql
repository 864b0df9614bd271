-- Locks the members of a tenant until the transaction ends. Members change one at a time, so that
-- the last owner stays and the plan's limit holds.
create function logloom_private.lock_members(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform pg_advisory_xact_lock(logloom_private.lock_key('members'), hashtext(p_tenant_id));
end;
$$;

create function logloom_private.member_of(p_member logloom.tenant_members)
returns public.logloom_member
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_member.user_id, p_member.role,
    coalesce(
      (select u.email from logloom_private.auth_users_by_id(array[p_member.user_id]) u),
      p_member.email
    ),
    p_member.created_at,
    p_member.view_id
  )::public.logloom_member;
end;
$$;

-- Changes the role of a member, or removes the member if p_is_removed. Returns the member after the
-- change or before the removal. Raises PT400 if no owner would be left.
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

-- Returns a page of members, with their email addresses from Auth.
create function logloom_private.read_members(p_tenant_id text, p_limit integer, p_after text)
returns setof public.logloom_member
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because email addresses are in a table of Auth
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'member', 'user_id',
    (
      select m.created_at from logloom.tenant_members m
      where m.tenant_id = v_tenant_id and m.user_id = p_after
    )
  );
begin
  return query
  with page as materialized (
    select m.*
    from logloom.tenant_members m
    where m.tenant_id = v_tenant_id
      and (p_after is null or (m.created_at, m.user_id) < (v_after, p_after))
    order by m.created_at desc, m.user_id desc
    limit v_limit
  )
  select p.user_id, p.role, coalesce(u.email, p.email), p.created_at, p.view_id
  from page p
  left join logloom_private.auth_users_by_id(array(select i.user_id from page i)) u
    on u.user_id = p.user_id
  order by p.created_at desc, p.user_id desc;
end;
$$;

create function public.list_tenant_members(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_member
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select m.* from logloom_private.read_members(p_tenant_id, p_limit, p_after) m;
end;
$$;

comment on function public.list_tenant_members(text, integer, text) is
  'Members of the tenant, newest first; none if the tenant does not use roles. p_limit: 1 to 1000 '
  '(default 100). p_after: user_id of the last item of the page before. Errors: PT400, PT401, '
  'PT403.';

-- Adds a user, for public.add_tenant_member. If there is no member yet, adds the caller first.
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
    -- From now on the tenant uses roles. Without a role, the caller would be locked out.
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
    -- The first member of a tenant is its owner, whatever role was requested.
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
  'Adds a user to the tenant and returns the member. p_user_id: the claim sub of their tokens. '
  'p_email alone is enough for a user of Supabase Auth. p_role: viewer, member, admin or owner. '
  'p_view_id: the view that a viewer reads in. For owners. The first call also makes the caller an '
  'owner. From then on only members belong to the tenant. Errors: PT400 (also the plan''s limit), '
  'PT401, PT403, PT404.';

create function public.set_tenant_member_role(
  p_user_id text default null,
  p_role text default null,
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
  return logloom_private.change_member(p_tenant_id, p_user_id, p_role, p_view_id => p_view_id);
end;
$$;

comment on function public.set_tenant_member_role(text, text, text, uuid) is
  'Sets the role of a member from their next request on, and returns the member. p_role: viewer, '
  'member, admin or owner. p_view_id: the view that a viewer reads in. For owners. The last one '
  'stays an owner. Errors: PT400, PT401, PT403, PT404.';

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
  perform logloom_private.change_member(p_tenant_id, p_user_id, 'member', true);
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.remove_tenant_member(text, text) is
  'Removes a user from the tenant: their tokens are refused from the next request on. For owners. '
  'The last one cannot be removed. Returns {success}. Errors: PT400, PT401, PT403, PT404.';
