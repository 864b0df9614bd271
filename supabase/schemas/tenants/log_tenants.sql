-- Returns the tenants of the caller, for public.list_log_tenants.
create function logloom_private.read_memberships(p_limit integer, p_after text)
returns setof public.logloom_log_tenant
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because policies show only members of the token's tenant
declare
  v_current constant text := logloom_private.caller_tenant();
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := logloom_private.require_user_id();
  v_limit constant integer := logloom_private.list_limit(p_limit);
begin
  perform logloom_private.require_writing_client(v_claims);
  return query
  select t.tenant_id, t.role, t.tenant_id = v_current
  from (
    select m.tenant_id, m.role
    from logloom.tenant_members m
    where m.user_id = v_user_id and not logloom_private.is_being_deleted(m.tenant_id)
    union
    -- The caller has no row if the tenant does not use roles, or the token names the role.
    select v_current, logloom_private.acting_role(v_current, v_user_id, v_claims)
  ) t
  where p_after is null or t.tenant_id collate "C" > p_after collate "C"
  order by t.tenant_id collate "C"
  limit v_limit;
end;
$$;

create function public.list_log_tenants(
  p_limit integer default null,
  p_after text default null
)
returns setof public.logloom_log_tenant
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select t.* from logloom_private.read_memberships(p_limit, p_after) t;
end;
$$;

comment on function public.list_log_tenants(integer, text) is
  'The tenants that the caller belongs to and the caller''s role in each, ordered by tenant_id. '
  'p_limit: 1 to 1000 (default 100). p_after: tenant_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- Chooses the tenant that the caller's next token names, for public.switch_log_tenant.
create function logloom_private.choose_tenant(p_tenant_id text)
returns public.logloom_log_tenant
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes members
declare
  v_current constant text := logloom_private.caller_tenant();
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := logloom_private.require_user_id();
  v_role text;
begin
  perform logloom_private.require_writing_client(v_claims);
  perform logloom_private.require_parameter('p_tenant_id', p_tenant_id is null);
  if nullif(v_claims #> '{app_metadata,tenant_id}', 'null') is not null then
    perform logloom_private.refuse('tenants.tenant_is_assigned');
  end if;
  update logloom.tenant_members m set chosen_at = clock_timestamp()
  where m.tenant_id = p_tenant_id and m.user_id = v_user_id
    and not logloom_private.is_being_deleted(m.tenant_id)
  returning m.role into v_role;
  if not found then
    perform logloom_private.refuse('tenants.membership_not_found');
  end if;
  return row(p_tenant_id, v_role, p_tenant_id = v_current)::public.logloom_log_tenant;
end;
$$;

create function public.switch_log_tenant(p_tenant_id text default null)
returns public.logloom_log_tenant
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.choose_tenant(p_tenant_id);
end;
$$;

comment on function public.switch_log_tenant(text) is
  'Chooses one of the caller''s tenants and returns it. The custom access token hook then names '
  'the tenant in new tokens: refresh the session. PT409 if app_metadata.tenant_id already decides '
  'the tenant. Errors: PT400, PT401, PT403, PT404 (not a member), PT409.';

create function public.get_current_tenant(p_tenant_id text default null)
returns public.logloom_tenant
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_result constant public.logloom_tenant := logloom_private.tenant_with_plan(v_tenant_id);
begin
  if v_result.tenant_id is null then
    perform logloom_private.refuse('tenants.not_found');
  end if;
  return v_result;
end;
$$;

comment on function public.get_current_tenant(text) is
  'The tenant with its plan and limits. Errors: PT400, PT401, PT403, PT404.';
