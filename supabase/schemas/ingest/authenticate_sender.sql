-- Whose a request is: of the API key where one is given, else of the tenant of the verified claims,
-- else of the tenant that service_role names. PT401, also for a key that is unknown, revoked or
-- expired; PT403 for a key or the token of an OAuth client that may only read.
create function logloom_private.authenticate_sender(
  p_tenant_id text,
  p_key_digest text,
  p_claims jsonb,
  out tenant_id text,
  out key_id uuid
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key logloom.api_keys;
begin
  if p_key_digest is not null then
    v_key := logloom_private.key_of_digest(p_key_digest);
    if not v_key.scopes @> '{ingest}' then
      perform logloom_private.refuse('callers.key_may_only_read');
    end if;
    perform logloom_private.note_key_use(v_key);
    authenticate_sender.tenant_id := v_key.tenant_id;
    authenticate_sender.key_id := v_key.key_id;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.current_tenant_id(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    perform logloom_private.refuse('callers.not_known');
  end if;
  perform logloom_private.require_writing_client(p_claims);
end;
$$;
