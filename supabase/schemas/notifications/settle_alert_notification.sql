create function logloom_private.notification_retry_base()
returns interval
language sql
immutable
return interval '5 seconds';

-- Returns how long to wait after p_attempts attempts. If the receiver asks for a longer wait,
-- returns that.
create function logloom_private.retry_delay(p_attempts integer, p_retry_after integer)
returns interval
language sql
volatile
return greatest(
  logloom_private.back_off(p_attempts, logloom_private.notification_retry_base(), '3 hours'),
  least(make_interval(secs => coalesce(p_retry_after, 0)), interval '3 hours')
);

-- Stores that a notification was delivered or given up, also in the history of alerts.
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

-- Records the outcome of an attempt and when the next one is due.
create function logloom_private.settle_claim(
  p_notification_id uuid,
  p_claim_id uuid,
  p_outcome text,
  p_status integer,
  p_error text,
  p_retry_after integer
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the outbox
declare
  v_notification logloom_private.notifications;
  v_next_attempt_at timestamptz;
  v_error constant text := left(p_error, 500);
begin
  select n.* into v_notification
  from logloom_private.notifications n
  where n.notification_id = p_notification_id
  for update;
  -- A success counts from any claim, a failure only from the current one.
  if not found
    or v_notification.status <> 'pending'
    or (p_outcome <> 'delivered' and v_notification.claim_id is distinct from p_claim_id)
  then
    return;
  end if;

  if p_outcome = 'retry' then
    v_next_attempt_at := now() + logloom_private.retry_delay(
      v_notification.attempts, p_retry_after
    );
    if v_next_attempt_at < v_notification.expires_at then
      update logloom_private.notifications n
      set claim_id = null,
        next_attempt_at = v_next_attempt_at,
        last_status = p_status,
        last_error = v_error
      where n.notification_id = p_notification_id;
      return;
    end if;
  end if;

  perform logloom_private.end_notification(v_notification, p_outcome, p_status, v_error);
end;
$$;

create function public.settle_alert_notification(
  p_notification_id uuid default null,
  p_claim_id uuid default null,
  p_outcome text default null,
  p_status integer default null,
  p_error text default null,
  p_retry_after integer default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.require_parameter('p_notification_id', p_notification_id is null);
  perform logloom_private.require_parameter('p_claim_id', p_claim_id is null);
  perform logloom_private.require_parameter('p_outcome', p_outcome is null);
  if p_outcome not in ('delivered', 'retry', 'failed') then
    perform logloom_private.refuse('notifications.outcome_is_unknown');
  end if;
  perform logloom_private.settle_claim(
    p_notification_id, p_claim_id, p_outcome, p_status, p_error, p_retry_after
  );
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.settle_alert_notification(uuid, uuid, text, integer, text, integer) is
  'The edge function logloom-notify calls it after an attempt. p_outcome: delivered; retry (tried '
  'again after a back-off, but at least p_retry_after seconds); failed (given up). p_status: HTTP '
  'or SMTP status. Errors: PT400.';
