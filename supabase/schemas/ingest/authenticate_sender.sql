-- Whose a request is: of the API key or ingest token where one is given, else of the tenant of the
-- verified claims, else of the tenant that service_role names. service: the only one that may be
-- sent for. PT401, also for a key that is unknown, revoked, expired or out of scope; PT403 for the
-- token of an OAuth client that may only read; PT404 for a tenant that service_role names and that
-- cannot be.
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
  v_last_used_at timestamptz;
begin
  if p_key_digest is not null then
    select k.tenant_id, k.key_id, k.last_used_at
    into authenticate_sender.tenant_id, authenticate_sender.key_id, v_last_used_at
    from logloom.api_keys k
    where k.key_digest = decode(p_key_digest, 'hex')
      and k.revoked_at is null
      and (k.expires_at is null or k.expires_at > now())
      and k.scopes @> '{ingest}';
    if not found then
      select t.tenant_id, t.service
      into authenticate_sender.tenant_id, authenticate_sender.service
      from logloom_private.ingest_tokens t
      where t.token_digest = decode(p_key_digest, 'hex')
        and logloom_private.ingest_token_is_alive(t);
    end if;
  else
    authenticate_sender.tenant_id := case
      when p_claims is not null then logloom_private.current_tenant_id(p_claims)
      when not logloom_private.is_being_deleted(p_tenant_id)
        then logloom_private.usable_id(p_tenant_id)
    end;
  end if;
  if authenticate_sender.tenant_id is null then
    -- Whoever may send for any tenant is known.
    if num_nonnulls(p_key_digest, p_claims) = 0 and p_tenant_id is not null then
      perform logloom_private.refuse('ingest.tenant_is_not_known', p_tenant_id);
    end if;
    -- Only who has the whole key learns what has become of it.
    perform logloom_private.refuse(coalesce(
      (
        select case when k.revoked_at is null then 'callers.key_is_expired'
          else 'callers.key_is_revoked' end
        from logloom.api_keys k
        where k.key_digest = decode(p_key_digest, 'hex')
      ),
      (
        select case when t.expires_at <= now() then 'callers.ingest_token_is_expired'
          else 'callers.ingest_token_is_revoked' end
        from logloom_private.ingest_tokens t
        where t.token_digest = decode(p_key_digest, 'hex')
      ),
      case when p_key_digest is null then 'callers.not_known' else 'callers.key_is_unknown' end
    ));
  elsif p_key_digest is null then
    perform logloom_private.require_writing_client(p_claims);
  elsif key_id is not null and v_last_used_at >= date_trunc('minute', now()) is not true then
    -- Skips a locked row: whoever holds it must not hold up ingest, and another request will do.
    update logloom.api_keys k
    set last_used_at = now()
    where k.key_id = (
      select u.key_id
      from logloom.api_keys u
      where u.key_id = authenticate_sender.key_id
      for no key update skip locked
    );
  end if;
end;
$$;
