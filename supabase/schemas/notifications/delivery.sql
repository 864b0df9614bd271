-- A notification as its tenant sees it.
create function logloom_private.delivery(p_notification logloom_private.notifications)
returns public.logloom_alert_delivery
language sql
stable
return row(
  p_notification.notification_id, p_notification.alert_id, p_notification.rule_id,
  p_notification.channel, p_notification.status, p_notification.attempts,
  p_notification.created_at, p_notification.last_attempt_at,
  case p_notification.status when 'pending' then p_notification.next_attempt_at end,
  case p_notification.status when 'delivered' then p_notification.settled_at end,
  p_notification.last_status, p_notification.last_error, p_notification.purpose,
  case p_notification.status when 'pending' then p_notification.expires_at end
)::public.logloom_alert_delivery;
