-- Returns active, revoked or expired. A key that is both revoked and expired is revoked.
create function logloom_private.api_key_status(p_revoked_at timestamptz, p_expires_at timestamptz)
returns text
language sql
stable
return case
  when p_revoked_at is not null then 'revoked'
  when p_expires_at <= now() then 'expired'
  else 'active'
end;

-- Returns the active API key with this digest (hex SHA-256 of the key); all null if there is none.
-- Raises PT401 if the key is revoked or expired. Only somebody with the whole key learns this.
create function logloom_private.key_of_digest(p_key_digest text)
returns logloom.api_keys
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key logloom.api_keys;
begin
  select k.* into v_key from logloom.api_keys k where k.key_digest = decode(p_key_digest, 'hex');
  if v_key.revoked_at is not null then
    perform logloom_private.refuse('callers.key_is_revoked');
  elsif v_key.expires_at <= now() then
    perform logloom_private.refuse('callers.key_is_expired');
  end if;
  return v_key;
end;
$$;

create function public.list_api_keys(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_api_key
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'API key', 'key_id',
    (
      select k.created_at from logloom.api_keys k
      where k.tenant_id = v_tenant_id and k.key_id = p_after
    )
  );
begin
  return query
  select
    k.key_id, k.tenant_id, k.name, k.key_prefix, k.scopes,
    logloom_private.api_key_status(k.revoked_at, k.expires_at),
    k.created_at, k.last_used_at, k.expires_at, k.revoked_at, k.view_id
  from logloom.api_keys k
  where k.tenant_id = v_tenant_id
    and (p_after is null or (k.created_at, k.key_id) < (v_after, p_after))
  order by k.created_at desc, k.key_id desc
  limit v_limit;
end;
$$;

comment on function public.list_api_keys(text, integer, uuid) is
  'API keys of the tenant, newest first, without their values. p_limit: 1 to 1000 (default 100). '
  'p_after: key_id of the last item of the page before. Errors: PT400, PT401, PT403.';

create function public.revoke_api_key(p_tenant_id text default null, p_key_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_key_id', p_key_id is null);
  update logloom.api_keys k
  set revoked_at = coalesce(k.revoked_at, now())
  where k.tenant_id = v_tenant_id and k.key_id = p_key_id;
  if not found then
    perform logloom_private.refuse('api_keys.not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.revoke_api_key(text, uuid) is
  'Revokes an API key; the next request with it is refused. Revoking it again changes nothing. '
  'Errors: PT400, PT401, PT403, PT404.';

-- Writes an audit event for each change of an API key. Using a key is not a change.
create function logloom_private.audit_api_keys()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_key constant logloom.api_keys := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_key.tenant_id,
    logloom_private.actor(),
    case
      when tg_op = 'INSERT' then 'api_key.created'
      when tg_op = 'DELETE' then 'api_key.deleted'
      when new.revoked_at is not null and old.revoked_at is null then 'api_key.revoked'
      else 'api_key.changed'
    end,
    v_key.key_id::text,
    -- The members are listed one by one, so a digest never gets in.
    jsonb_build_object('name', v_key.name, 'key_prefix', v_key.key_prefix)
    || case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        jsonb_build_object('expires_at', old.expires_at, 'revoked_at', old.revoked_at),
        jsonb_build_object('expires_at', new.expires_at, 'revoked_at', new.revoked_at)
      )
      else jsonb_strip_nulls(jsonb_build_object(
        'expires_at', v_key.expires_at, 'view_id', v_key.view_id
      ))
    end
  );
  return null;
end;
$$;

create trigger audit_api_keys
after insert or delete or update of name, scopes, expires_at, revoked_at on logloom.api_keys
for each row execute function logloom_private.audit_api_keys();
