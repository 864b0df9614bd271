-- Whose a request is: of the API key where one is given, else of the tenant of the verified claims,
-- else of the tenant that service_role names. PT401, PT403 for the token of an OAuth client that
-- may only read.
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
begin
  if p_key_digest is not null then
    select o.tenant_id, o.key_id
    into authenticate_sender.tenant_id, authenticate_sender.key_id
    from logloom_private.authenticate_api_key(p_key_digest) o;
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
