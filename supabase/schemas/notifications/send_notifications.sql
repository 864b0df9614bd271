-- Wakes the edge function logloom-notify when something is due.
create function logloom_private.send_notifications()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (
    select from logloom_private.notifications n
    where n.status = 'pending' and n.next_attempt_at <= now()
  ) then
    perform logloom_private.wake_function('logloom-notify');
  end if;
end;
$$;
