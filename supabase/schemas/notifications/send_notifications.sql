-- Wakes the edge function logloom-notify when something is due or is to be sealed.
create function logloom_private.send_notifications()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) or exists (
    -- Sealed at once, if the function can. If not, it is not asked for ever.
    select from logloom_private.webhook_secrets w
    where (starts_with(w.secret, 'whsec_') or starts_with(w.previous_secret, 'whsec_'))
      and w.changed_at > now() - interval '1 minute'
  ) then
    perform logloom_private.wake_function('logloom-notify');
  end if;
end;
$$;
