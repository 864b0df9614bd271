-- Makes a tenant of the caller the one that their next token names; what public.switch_log_tenant
-- answers.
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
  'Chooses a tenant that the caller belongs to, and returns it. The custom access token hook names '
  'it in the tokens that Auth makes from then on: refresh the session. Where '
  'app_metadata.tenant_id names one, that decides: PT409. '
  'Errors: PT400, PT401, PT403, PT404 (not a member), PT409.';
