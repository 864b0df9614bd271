-- Makes a new code for the address of a notification that was claimed, keeps its hash, and returns
-- what the mail says. The code before is good no more.
create function logloom_private.mail_code(p_notification logloom_private.notifications)
returns text
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- 48 bits over a million codes: none is more likely than another by what anybody could use.
  v_code constant text := lpad((
    (('x' || encode(extensions.gen_random_bytes(6), 'hex'))::bit(48)::bigint) % 1000000
  )::text, 6, '0');
  v_lifetime constant interval := (
    select s.confirmation_lifetime from logloom_private.settings s
  );
begin
  insert into logloom_private.notification_addresses as a (
    tenant_id, mailbox, code_hash, code_expires_at
  )
  values (
    p_notification.tenant_id, lower(p_notification.address),
    extensions.crypt(v_code, extensions.gen_salt('bf', 8)), now() + v_lifetime
  )
  on conflict (tenant_id, mailbox) do update
  set code_hash = excluded.code_hash, code_expires_at = excluded.code_expires_at, tries = 0;
  return (
    p_notification.body::jsonb || jsonb_build_object(
      'code', v_code, 'hours', round(extract(epoch from v_lifetime) / 3600, 1)
    )
  )::text;
end;
$$;
