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
