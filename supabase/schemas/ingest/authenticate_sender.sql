-- Finds the sender of a request. tenant_id: the tenant of the key or ingest token, else of the
-- verified claims, else the tenant that service_role names. service: the only service that the
-- sender may send for; null: every service. Raises:
-- - PT401 for an unknown sender, also for a key that is unknown, revoked or expired;
-- - PT403 for a key, viewer or OAuth client that may only read;
-- - PT404 if service_role names a tenant that cannot exist or is being deleted.
create function logloom_private.authenticate_sender(
  p_tenant_id text,
  p_key_digest text,
  p_claims jsonb,
  out tenant_id text,
  out key_id uuid,
  out service text
)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key logloom.api_keys;
  v_token logloom_private.ingest_tokens;
begin
  if p_key_digest is not null then
    v_key := logloom_private.key_of_digest(p_key_digest);
    if v_key.key_id is not null then
      if not v_key.scopes @> '{ingest}' then
        perform logloom_private.refuse('callers.key_may_only_read');
      end if;
      perform logloom_private.note_key_use(v_key);
      authenticate_sender.tenant_id := v_key.tenant_id;
      authenticate_sender.key_id := v_key.key_id;
      return;
    end if;
    select t.* into v_token
    from logloom_private.ingest_tokens t
    where t.token_digest = decode(p_key_digest, 'hex');
    if not found then
      perform logloom_private.refuse('callers.key_is_unknown');
    elsif v_token.expires_at <= now() then
      perform logloom_private.refuse('callers.ingest_token_is_expired');
    elsif not logloom_private.ingest_token_is_alive(v_token) then
      perform logloom_private.refuse('callers.ingest_token_is_revoked');
    end if;
    authenticate_sender.tenant_id := v_token.tenant_id;
    authenticate_sender.service := v_token.service;
    return;
  end if;
  authenticate_sender.tenant_id := case
    when p_claims is not null then logloom_private.tenant_of_claims(p_claims)
    when not logloom_private.is_being_deleted(p_tenant_id)
      then logloom_private.usable_id(p_tenant_id)
  end;
  if authenticate_sender.tenant_id is null then
    -- service_role is authenticated: only the tenant that it names is wrong.
    if p_claims is null and p_tenant_id is not null then
      perform logloom_private.refuse('ingest.tenant_is_not_known', p_tenant_id);
    end if;
    perform logloom_private.refuse('callers.not_known');
  end if;
  perform logloom_private.require_writing_client(p_claims);
  if logloom_private.is_viewer(authenticate_sender.tenant_id, p_claims) then
    perform logloom_private.refuse('callers.viewer_may_only_read');
  end if;
end;
$$;
