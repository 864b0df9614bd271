-- Owner of an API key by its hex SHA-256. PT401 when unknown, revoked, expired or out of scope.
create function logloom_private.authenticate_api_key(p_key_digest text)
returns logloom_private.api_key_owner
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_owner logloom_private.api_key_owner;
  v_minute constant timestamptz := date_trunc('minute', now());
  v_last_used_at timestamptz;
begin
  select k.tenant_id, k.key_id, k.last_used_at
  into v_owner.tenant_id, v_owner.key_id, v_last_used_at
  from logloom.api_keys k
  where k.key_digest = decode(p_key_digest, 'hex')
    and k.revoked_at is null
    and (k.expires_at is null or k.expires_at > now())
    and k.scopes @> '{ingest}';
  if not found then
    perform logloom_private.refuse('callers.not_known');
  end if;

  if v_last_used_at is null or v_last_used_at < v_minute then
    -- Skips a locked row: whoever holds it must not hold up ingest, and another request will do.
    update logloom.api_keys k
    set last_used_at = now()
    where k.key_id = (
      select u.key_id
      from logloom.api_keys u
      where u.key_id = v_owner.key_id
      for no key update skip locked
    );
  end if;
  return v_owner;
end;
$$;
