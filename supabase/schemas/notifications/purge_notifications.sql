-- Deletes deliveries that ended long ago, and what no limit counts any more.
create function logloom_private.purge_notifications()
returns interval
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from logloom_private.notifications n
  where n.notification_id = any(array(
    select o.notification_id
    from logloom_private.notifications o
    where o.status <> 'pending'
      and o.settled_at < now() - v_settings.notification_history_lifetime
    limit v_settings.purge_step_rows
  ));
  get diagnostics v_rows = row_count;
  delete from logloom_private.notification_usage u where u.hour < now() - interval '1 day';
  delete from logloom_private.confirmation_mails m
  where m.sent_at < now() - v_settings.confirmation_lifetime;
  delete from logloom_private.notification_addresses a
  where a.confirmed_at is null and a.code_expires_at < now();
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;
