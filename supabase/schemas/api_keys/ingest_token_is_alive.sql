-- Whether an ingest token is valid: it has not expired, and its user may still send.
create function logloom_private.ingest_token_is_alive(p_token logloom_private.ingest_tokens)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_token.expires_at > now()
    and not logloom_private.is_being_deleted(p_token.tenant_id)
    and (
      p_token.created_by is null
      or coalesce(
        logloom_private.acting_role(p_token.tenant_id, p_token.created_by), 'viewer'
      ) <> 'viewer'
      -- If roles come from tokens, only the user's next token would show whether the user still has
      -- a role.
      or (select s.roles_from_token from logloom_private.settings s)
    )
    and (
      p_token.session_id is null
      or logloom_private.auth_session_is_there(p_token.session_id) is not false
    );
end;
$$;
