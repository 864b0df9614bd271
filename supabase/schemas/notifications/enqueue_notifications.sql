-- One notification for each destination of the rule that the tenant's preferences allow. One to an
-- address that is not confirmed is given up at once.
create function logloom_private.enqueue_notifications(
  p_rule logloom.alert_rules,
  p_alert_id uuid,
  p_body text
)
returns setof logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_preferences jsonb;
  v_notification logloom_private.notifications;
begin
  v_preferences := to_jsonb(
    (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences
  );
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id)
    values (p_rule.rule_id)
    on conflict (rule_id) do nothing;
  end if;
  for v_notification in
    insert into logloom_private.notifications (
      tenant_id, rule_id, alert_id, purpose, channel, address, body, expires_at
    )
    select
      p_rule.tenant_id, p_rule.rule_id, p_alert_id,
      case when p_alert_id is null then 'test' else 'alert' end, d.channel,
      logloom_private.channel_address(d.channel, p_rule.notification_config), p_body,
      now() + s.notification_lifetime
    from logloom_private.settings s
    cross join unnest(p_rule.notification_destinations) d (channel)
    where (v_preferences -> (d.channel || '_enabled'))::boolean
      and logloom_private.channel_address(d.channel, p_rule.notification_config) is not null
    returning *
  loop
    if v_notification.channel = 'email' and not logloom_private.address_is_confirmed(
      v_notification.tenant_id, v_notification.address
    ) then
      v_notification := logloom_private.end_notification(
        v_notification, 'failed', null,
        case
          -- Whoever tests asks for another code. An alert asks for nothing: it may fire for ever.
          when p_alert_id is null then logloom_private.request_confirmation(p_rule, true)
          else logloom_private.unconfirmed_address(
            v_notification.tenant_id, v_notification.address
          )
        end
      );
    end if;
    return next v_notification;
  end loop;
end;
$$;
