-- Raises PT400 if a key with these scopes cannot have a view, and PT404 if the view does not exist.
create function logloom_private.require_view_for_key(
  p_tenant_id text,
  p_view_id uuid,
  p_scopes text[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_view_id is not null and not p_scopes <@ '{read}' then
    perform logloom_private.refuse('api_keys.view_is_for_reading');
  end if;
  perform logloom_private.hold_view(p_tenant_id, p_view_id);
end;
$$;

-- Creates the tenant of the request if needed and locks it. Raises PT400 if it already has p_times
-- × max_api_keys active keys. Keeps at most max_api_keys ended keys: deletes the oldest.
create function logloom_private.require_room_for_api_key(p_tenant_id text, p_times integer)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may lock a tenant or delete keys
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

-- Creates a key from checked parameters and returns it with key_value.
create function logloom_private.issue_api_key(
  p_tenant_id text,
  p_name text,
  p_expires_at timestamptz,
  p_scopes text[],
  p_view_id uuid
)
returns public.logloom_created_api_key
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key_value constant text := logloom_private.new_api_key();
  v_result public.logloom_created_api_key;
begin
  insert into logloom.api_keys (
    tenant_id, name, key_prefix, key_digest, scopes, created_by, expires_at, view_id, lifetime
  )
  values (
    p_tenant_id, p_name, left(v_key_value, 11), sha256(convert_to(v_key_value, 'UTF8')),
    array(select distinct unnest(p_scopes)), logloom_private.current_user_id(), p_expires_at,
    p_view_id, p_expires_at - now()
  )
  returning
    key_id, tenant_id, name, key_prefix, v_key_value, scopes,
    logloom_private.api_key_status(revoked_at, expires_at), created_at, expires_at,
    view_id
  into v_result;
  return v_result;
end;
$$;

create function public.create_api_key(
  p_tenant_id text default null,
  p_name text default null,
  p_expires_at text default null,
  p_scopes text[] default null,
  p_view_id uuid default null
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
  v_expires_at constant timestamptz := logloom_private.time_parameter('p_expires_at', p_expires_at);
  v_scopes constant text[] := coalesce(p_scopes, '{ingest}');
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_name', p_name is null);
  if length(v_name) not between 1 and 100 then
    perform logloom_private.refuse('api_keys.name_is_invalid');
  end if;
  if v_expires_at <= now() then
    perform logloom_private.refuse('api_keys.expires_in_the_past');
  end if;
  if not v_scopes <@ '{ingest, read, audit}' or cardinality(v_scopes) = 0
    or array_ndims(v_scopes) <> 1 or array_position(v_scopes, null) is not null
  then
    perform logloom_private.refuse('api_keys.scope_is_unknown');
  end if;
  perform logloom_private.require_view_for_key(p_tenant_id, p_view_id, v_scopes);

  perform logloom_private.require_room_for_api_key(p_tenant_id, 1);
  return logloom_private.issue_api_key(v_tenant_id, v_name, v_expires_at, v_scopes, p_view_id);
end;
$$;

comment on function public.create_api_key(text, text, text, text[], uuid) is
  'Creates an API key and returns it. Only this answer has key_value. p_name: 1 to 100 characters '
  'after trimming. p_expires_at: none by default. p_scopes: ingest (default), read, audit. '
  'p_view_id: the view that the key reads in (only for the scope read). None by default. Errors: '
  'PT400 (also the plan''s limit), PT401, PT403, PT404.';

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
