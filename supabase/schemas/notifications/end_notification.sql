-- Notes that a notification was delivered or is given up, in the history of alerts, too.
create function logloom_private.end_notification(
  p_notification logloom_private.notifications,
  p_outcome text,
  p_status integer,
  p_error text
)
returns logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended logloom_private.notifications;
  v_alert_ids constant uuid[] := p_notification.alert_id || array(
    select a.alert_id
    from logloom_private.notified_alerts a
    where a.notification_id = p_notification.notification_id
  );
begin
  update logloom_private.notifications n
  set claim_id = null,
    status = case p_outcome when 'delivered' then 'delivered' else 'failed' end,
    settled_at = now(),
    last_status = p_status,
    last_error = p_error
  where n.notification_id = p_notification.notification_id
  returning n.* into v_ended;
  if p_outcome = 'delivered' then
    update logloom.alert_history h
    set notification_sent_at = coalesce(h.notification_sent_at, now()),
      notification_channels
        = array_remove(h.notification_channels, v_ended.channel) || v_ended.channel
    where h.alert_id = any (v_alert_ids);
  else
    update logloom.alert_history h
    set notification_error = v_ended.channel || ': ' || coalesce(p_error, 'not delivered')
    where h.alert_id = any (v_alert_ids);
  end if;
  return v_ended;
end;
$$;
