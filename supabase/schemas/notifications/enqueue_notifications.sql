-- After this time a delivery is given up.
create function logloom_private.notification_lifetime()
returns interval
language sql
immutable
return interval '24 hours';

-- Adds an alert to the rule's waiting notification and returns the notification, else null.
create function logloom_private.collect_alert(
  p_rule logloom.alert_rules,
  p_purpose text,
  p_channel text,
  p_alert_id uuid,
  p_body text
)
returns logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_waiting logloom_private.notifications;
  v_body jsonb;
begin
  select n.* into v_waiting
  from logloom_private.notifications n
  where n.rule_id = p_rule.rule_id and n.channel = p_channel and n.purpose = p_purpose
    and n.status = 'pending' and n.attempts = 0 and n.claim_id is null
    and n.next_attempt_at > clock_timestamp() and n.group_key = 'collected'
    -- A message gives one reason why incidents ended.
    and n.body::jsonb #> '{data,resolution}' is not distinct from
      p_body::jsonb #> '{data,resolution}'
    -- A group's last message must say how the group is now. So a group that fired, recovered and
    -- fires again does not join the first message. A message with 100 alerts may omit groups.
    and not exists (
      select
      from logloom_private.notifications m
      cross join lateral (select m.body::jsonb #> '{data,alerts}' as alerts) a
      where m.rule_id = n.rule_id and m.channel = n.channel and m.group_key = n.group_key
        and m.purpose <> n.purpose and m.position > n.position and m.status = 'pending'
        and (
          jsonb_array_length(a.alerts) >= 100
          or a.alerts @> jsonb_build_array(
            jsonb_build_object('group', p_body::jsonb #> '{data,alerts,0,group}')
          )
        )
    )
  order by n.position desc
  limit 1
  for update;
  if not found then
    return null;
  end if;
  v_body := v_waiting.body;
  -- A message shows at most 100 alerts; the history has all of them.
  if jsonb_array_length(v_body #> '{data,alerts}') < 100 then
    v_body := jsonb_set(
      v_body, '{data,alerts}', (v_body #> '{data,alerts}') || (p_body::jsonb #> '{data,alerts}')
    );
    update logloom_private.notifications n
    set body = v_body::text
    where n.notification_id = v_waiting.notification_id
    returning n.* into v_waiting;
  end if;
  if p_alert_id is not null then
    insert into logloom_private.notified_alerts (notification_id, alert_id)
    values (v_waiting.notification_id, p_alert_id)
    on conflict do nothing;
  end if;
  return v_waiting;
end;
$$;

-- Whether an alert of an incident was delivered on a channel, or is still to be sent there.
create function logloom_private.is_told(
  p_rule_id uuid,
  p_incident_id uuid,
  p_channel text
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom.alert_history h
    where h.incident_id = p_incident_id and p_channel = any (h.notification_channels)
  ) or exists (
    select
    from logloom_private.notifications n
    left join logloom_private.notified_alerts a on a.notification_id = n.notification_id
    join logloom.alert_history h on h.alert_id in (n.alert_id, a.alert_id)
    where n.rule_id = p_rule_id and n.channel = p_channel and n.status = 'pending'
      and n.purpose = 'alert' and h.incident_id = p_incident_id
  );
end;
$$;

-- Adds a notification for each destination of the rule that the tenant's preferences allow. With
-- group_wait_seconds, one notification collects several alerts. A notification to an unconfirmed
-- address fails at once. p_purpose: alert, recovery or test. A recovery goes where the alert went.
-- During a silence a recovery goes only to PagerDuty, which has its own incident to close.
create function logloom_private.enqueue_notifications(
  p_rule logloom.alert_rules,
  p_purpose text,
  p_alert logloom.alert_history,
  p_body text,
  p_is_silenced boolean default false
)
returns setof logloom_private.notifications
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_preferences constant jsonb := to_jsonb(
    (logloom_private.effective_settings(p_rule.tenant_id)).notification_preferences
  );
  v_destination record;
  v_collects boolean;
  v_refusal text;
  v_notification logloom_private.notifications;
begin
  if 'webhook' = any(p_rule.notification_destinations) then
    insert into logloom_private.webhook_secrets (rule_id)
    values (p_rule.rule_id)
    on conflict (rule_id) do nothing;
  end if;
  for v_destination in
    select d.channel, a.address
    from unnest(p_rule.notification_destinations) d (channel)
    cross join lateral logloom_private.channel_address(
      d.channel, p_rule.notification_config, p_rule.notification_secrets
    ) a (address)
    where (v_preferences -> (logloom_private.channel_kind(d.channel) || '_enabled'))::boolean
      and a.address is not null
      and (
        p_purpose <> 'recovery'
        or (d.channel = 'pagerduty' or p_rule.notify_on_recovery and not p_is_silenced)
        and logloom_private.is_told(p_rule.rule_id, p_alert.incident_id, d.channel)
      )
  loop
    -- PagerDuty has its own incident for each group.
    v_collects := p_purpose <> 'test' and p_rule.group_wait_seconds > 0
      and p_alert."group" is not null and v_destination.channel <> 'pagerduty';
    if v_collects then
      v_notification := logloom_private.collect_alert(
        p_rule, p_purpose, v_destination.channel, p_alert.alert_id, p_body
      );
      if v_notification.notification_id is not null then
        return next v_notification;
        continue;
      end if;
    end if;
    insert into logloom_private.notifications (
      tenant_id, customer, rule_id, alert_id, incident_id, purpose, channel, address, body,
      expires_at, next_attempt_at, group_key, template
    )
    values (
      p_rule.tenant_id, logloom_private.customer_of_view(p_rule.view_id), p_rule.rule_id,
      p_alert.alert_id, p_alert.incident_id, p_purpose,
      v_destination.channel, v_destination.address, p_body,
      now() + logloom_private.notification_lifetime(),
      case
        when v_collects then now() + make_interval(secs => p_rule.group_wait_seconds)
        else now()
      end,
      case when v_collects then 'collected' else coalesce(md5(p_alert."group"::text), '') end,
      case when v_destination.channel = 'webhook' then jsonb_build_object(
        'text', p_rule.notification_config -> 'webhook_template',
        'type', coalesce(p_rule.notification_config -> 'webhook_template_type', '"json"')
      ) end
    )
    returning * into v_notification;
    v_refusal := coalesce(
      logloom_private.waiting_refusal(v_notification),
      case
        when v_notification.channel <> 'email' or logloom_private.address_is_confirmed(
          v_notification.tenant_id, v_notification.customer, v_notification.address
        ) then null
        -- A test may request another code. An alert may not, because a rule could fire for ever.
        when p_purpose = 'test' then logloom_private.request_confirmation(p_rule, true)
        else logloom_private.unconfirmed_address(
          v_notification.tenant_id, v_notification.customer, v_notification.address
        )
      end
    );
    if v_refusal is not null then
      v_notification := logloom_private.end_notification(v_notification, 'failed', null, v_refusal);
    end if;
    return next v_notification;
  end loop;
end;
$$;

-- Adds the notifications of an alert, in the transaction that fires it.
create function logloom_private.enqueue_alert_notifications()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  -- The history may be restored without its rule. Then nobody is notified.
  if found then
    perform logloom_private.enqueue_notifications(
      v_rule, 'alert', new, logloom_private.notification_body('alert.triggered', v_rule, new)
    );
  end if;
  return null;
end;
$$;

-- An entry with notification_sent_at is restored, not fired.
create trigger alert_history_enqueues_notifications
after insert on logloom.alert_history
for each row when (new.notification_sent_at is null and new.silence_id is null)
execute function logloom_private.enqueue_alert_notifications();

-- Returns why a recovery is not sent; null if it may be sent. The alert may have failed since the
-- recovery was added. Collected recoveries are sent if one of their alerts was delivered.
create function logloom_private.recovery_refusal(
  p_notification logloom_private.notifications
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when not exists (
      select
      from logloom.alert_incidents i
      where i.rule_id = p_notification.rule_id
        and (
          i.incident_id = p_notification.incident_id
          or p_notification.group_key = 'collected'
          and i.resolved_at >= p_notification.created_at
        )
        and logloom_private.is_told(i.rule_id, i.incident_id, p_notification.channel)
    ) then 'The beginning of the incident was not delivered'
  end;
end;
$$;

-- Adds the notifications of a recovery, in the transaction that ends the incident. Adds them only
-- once, and only if an alert was sent.
create function logloom_private.enqueue_recovery()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
  v_end logloom.alert_history;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  if not found
    or not (v_rule.notify_on_recovery or 'pagerduty' = any (v_rule.notification_destinations))
    or new.end_told_at is not null
  then
    return null;
  end if;
  v_end.incident_id := new.incident_id;
  v_end."group" := new."group";
  perform
  from logloom_private.enqueue_notifications(
    v_rule, 'recovery', v_end, logloom_private.recovery_body(v_rule, new),
    logloom_private.silence_of_alert(
      new.rule_id, new."group", logloom_private.silences_at(new.tenant_id, new.resolved_at)
    ) is not null
  );
  if found then
    update logloom.alert_incidents i
    set end_told_at = new.resolved_at
    where i.incident_id = new.incident_id;
  end if;
  return null;
end;
$$;

create trigger alert_incidents_enqueue_recovery
after update of resolved_at on logloom.alert_incidents
for each row when (old.resolved_at is null and new.resolved_at is not null)
execute function logloom_private.enqueue_recovery();
