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
    -- Listed one by one: a digest never gets in.
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
