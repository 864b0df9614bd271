-- Provisions the tenant of the request and holds it; PT400 when it has p_times as many living keys
-- as its plan allows. Forgets the longest dead beyond as many.
create function logloom_private.require_room_for_api_key(p_tenant_id text, p_times integer)
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may hold a tenant or delete keys
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_api_keys;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  if (
    select count(*) from logloom.api_keys k
    where k.tenant_id = v_tenant_id
      and logloom_private.api_key_status(k.revoked_at, k.expires_at) = 'active'
  ) >= p_times * v_max then
    perform logloom_private.refuse('api_keys.no_room', v_max::text);
  end if;
  -- Of the others as many are shown as may be alive.
  delete from logloom.api_keys k
  where k.tenant_id = v_tenant_id and k.key_id in (
    select o.key_id
    from logloom.api_keys o
    where o.tenant_id = v_tenant_id
      and logloom_private.api_key_status(o.revoked_at, o.expires_at) <> 'active'
    order by coalesce(o.revoked_at, o.expires_at) desc, o.key_id
    offset v_max
  );
end;
$$;

grant execute on function logloom_private.require_room_for_api_key(text, integer)
to authenticated, service_role;

-- Makes a key of checked parameters and returns it with key_value.
create function logloom_private.issue_api_key(
  p_tenant_id text,
  p_name text,
  p_expires_at timestamptz,
  p_scopes text[]
)
returns public.logloom_created_api_key
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_value constant text := logloom_private.new_api_key();
  v_result public.logloom_created_api_key;
begin
  insert into logloom.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at
  into v_result;
  return v_result;
end;
$$;

grant execute on function logloom_private.issue_api_key(text, text, timestamptz, text[])
to authenticated, service_role;

create function public.create_api_key(
  p_tenant_id text default null,
  p_name text default null,
  p_expires_at timestamptz default null,
  p_scopes text[] default null
)
returns public.logloom_created_api_key
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_name constant text := logloom_private.trim_space(p_name);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    perform logloom_private.refuse('api_keys.name_is_invalid');
  end if;
  if p_expires_at <= now() then
    perform logloom_private.refuse('api_keys.expires_in_the_past');
  end if;
  if not v_scopes <@ '{ingest}' or cardinality(v_scopes) = 0 or array_ndims(v_scopes) <> 1
    or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, p_expires_at, v_scopes);
end;
$$;

comment on function public.create_api_key(text, text, timestamptz, text[]) is
  'Creates an API key and returns it with key_value, this once. p_name: 1 to 100 characters after '
  'trimming. p_expires_at: none by default. Errors: PT400 (plan limit, too), PT401, PT403.';
