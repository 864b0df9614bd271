-- ISO 8601 in UTC, whatever the session's time zone is.
create function logloom_private.iso_time(p_at timestamptz)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(p_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"');
end;
$$;

-- The JSON that a webhook carries, of type alert.triggered or alert.test. The text is kept, so that
-- every attempt sends and signs the same bytes.
create function logloom_private.notification_body(
  p_type text,
  p_rule logloom.alert_rules,
  p_alert logloom.alert_history
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return json_build_object(
    'type', p_type,
    'timestamp', logloom_private.iso_time(p_alert.triggered_at),
    'data', json_build_object(
      'alert_id', p_alert.alert_id,
      'rule_id', p_rule.rule_id,
      'tenant_id', p_rule.tenant_id,
      'name', p_rule.name,
      'description', p_rule.description,
      'query_dsl', p_rule.query_dsl,
      'value', p_alert.value,
      'group', p_alert."group",
      'comparison', p_rule.comparison,
      'threshold', p_alert.threshold,
      'window_minutes', p_rule.window_minutes,
      'window_start', logloom_private.iso_time(p_alert.window_start),
      'window_end', logloom_private.iso_time(p_alert.window_end),
      'triggered_at', logloom_private.iso_time(p_alert.triggered_at)
    )
  )::text;
end;
$$;

-- One notification for each destination of the rule that the tenant's preferences allow. One to an
-- address that is not confirmed is given up at once.
create function logloom_private.enqueue_notifications(
  p_rule logloom.alert_rules,
  p_alert_id uuid,
  p_body text
)
returns setof logloom_private.notifications
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_preferences public.logloom_notification_preferences;
  v_notification logloom_private.notifications;
begin
  v_preferences := (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences;
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id, secret)
    values (p_rule.rule_id, logloom_private.new_webhook_secret())
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
    where logloom_private.channel_is_enabled(d.channel, v_preferences)
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

-- The notifications of an alert, in the transaction that fires it.
create function logloom_private.enqueue_alert_notifications()
returns trigger
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  -- An entry outlives its rule, and may be put back without it: then nobody is to hear of it.
  if found then
    perform logloom_private.enqueue_notifications(
      v_rule, new.alert_id, logloom_private.notification_body('alert.triggered', v_rule, new)
    );
  end if;
  return null;
end;
$$;

-- An entry that says that it was notified of is put back, not fired.
create trigger alert_history_enqueues_notifications
after insert on logloom.alert_history
for each row when (new.notification_sent_at is null)
execute function logloom_private.enqueue_alert_notifications();
