-- What an API key lets read, by the SHA-256 of the key as hex: all of its tenant, or what its view
-- shows. PT401 for one that is unknown, revoked or expired, PT403 for one that may only send.
create function logloom_private.scope_of_key(p_key_digest text)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_scope logloom_private.reading_scope;
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  elsif not v_key.scopes @> '{read}' then
    perform logloom_private.refuse('callers.key_may_only_send');
  end if;
  v_scope.tenant_id := v_key.tenant_id;
  v_scope.kind := 'key';
  if v_key.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, v_key.view_id);
  end if;
  return v_scope;
end;
$$;
