-- Creates the tenant on the default plan unless it exists. Raises PT403 for an anonymous sign-in.
create function logloom_private.provision_tenant(p_tenant_id text, p_claims jsonb)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.tenants t where t.tenant_id = p_tenant_id) then
    return;
  end if;
  perform logloom_private.require_lasting_user(p_claims);
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
end;
$$;

-- Resolves the tenant of the request, creates it if needed, and returns it. Every operation that
-- can be a tenant's first write calls it.
create function logloom_private.provision_current_tenant(p_tenant_id text default null)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may insert tenants or choose a plan
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.provision_tenant(v_tenant_id, logloom_private.claims());
  return v_tenant_id;
end;
$$;

-- Creates a tenant with its owner, for public.create_tenant.
create function logloom_private.found_tenant(p_tenant_id text)
returns public.logloom_tenant
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may insert tenants or members
declare
  v_user_id text;
begin
  if logloom_private.is_service_role() then
    perform logloom_private.refuse('tenants.made_by_a_user');
  end if;
  if not logloom_private.token_is_valid(logloom_private.claims()) then
    perform logloom_private.refuse('callers.not_known');
  end if;
  v_user_id := logloom_private.require_user_id();
  if not (select s.tenants_by_users from logloom_private.settings s) then
    perform logloom_private.refuse('tenants.not_made_by_users');
  end if;
  perform logloom_private.require_writing_client(logloom_private.claims());
  if logloom_private.is_viewer(
    logloom_private.tenant_of_claims(logloom_private.claims()), logloom_private.claims()
  ) then
    perform logloom_private.refuse('callers.viewer_may_only_read');
  end if;
  perform logloom_private.require_lasting_user(logloom_private.claims());
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if logloom_private.usable_id(p_tenant_id) is null then
    perform logloom_private.refuse('tenants.id_is_invalid');
  end if;
  -- One call per user at a time: a user creates one tenant at most.
  perform logloom_private.lock_members('user ' || v_user_id);
  if logloom_private.claims() ? 'tenant_id'
    or exists (select from logloom.tenant_members m where m.user_id = v_user_id)
  then
    perform logloom_private.refuse('tenants.caller_has_one');
  end if;
  -- Ids of our own tenants, such as the canary's, begin with logloom-.
  if p_tenant_id like 'logloom-%' or logloom_private.is_being_deleted(p_tenant_id) then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from logloom.plans p where p.is_default
  on conflict do nothing;
  if not found then
    perform logloom_private.refuse('tenants.id_is_taken');
  end if;
  insert into logloom.tenant_members (tenant_id, user_id, role)
  values (p_tenant_id, v_user_id, 'owner');
  return logloom_private.tenant_with_plan(p_tenant_id);
end;
$$;

create function public.create_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.found_tenant(p_tenant_id);
end;
$$;

comment on function public.create_tenant(text) is
  'Creates a tenant on the default plan, for a signed-in user who belongs to none. The user '
  'becomes its owner, and their next token names it. PT403 unless the setting tenants_by_users is '
  'on. Errors: PT400 (also if p_tenant_id is taken), PT401, PT403.';
