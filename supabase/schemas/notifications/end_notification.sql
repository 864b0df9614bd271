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
begin
  update logloom_private.notifications n
  set claim_id = null,
    status = case p_outcome when 'delivered' then 'delivered' else 'failed' end,
    settled_at = now(),
    last_status = p_status,
    last_error = p_error
  where n.notification_id = p_notification.notification_id
  returning n.* into v_ended;
  update logloom.alert_history h
  set
    notification_sent_at = case p_outcome
      when 'delivered' then coalesce(h.notification_sent_at, now())
      else h.notification_sent_at
    end,
    notification_channels = case
      when p_outcome <> 'delivered' or p_notification.channel = any(h.notification_channels)
        then h.notification_channels
      else h.notification_channels || p_notification.channel
    end,
    notification_error = case p_outcome
      when 'delivered' then h.notification_error
      else p_notification.channel || ': ' || coalesce(p_error, 'not delivered')
    end
  where h.alert_id = p_notification.alert_id;
  return v_ended;
end;
$$;
