-- The shortest time between two tests of a rule or log stream.
create function logloom_private.notification_test_interval()
returns interval
language sql
immutable
return interval '10 seconds';

-- Raises PT429 if the tests of this kind in the last hour reach the hourly limit of the tenant or
-- customer. Tests of deleted rules count as well.
create function logloom_private.require_room_for_test(
  p_tenant_id text,
  p_customer text,
  p_kind text
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_limit constant integer := logloom_private.channel_limit(p_kind, p_tenant_id, p_customer);
  v_room_at timestamptz;
begin
  if v_limit = 0 then
    v_room_at := now() + interval '1 hour';
  else
    select n.created_at + interval '1 hour' into v_room_at
    from logloom_private.notifications n
    where n.tenant_id = p_tenant_id and n.purpose = 'test'
      and n.customer is not distinct from p_customer
      and logloom_private.channel_kind(n.channel) = p_kind
      and n.created_at > now() - interval '1 hour'
    order by n.created_at desc
    offset v_limit - 1
    limit 1;
  end if;
  if v_room_at is not null then
    perform logloom_private.refuse_for_now(
      ceil(extract(epoch from v_room_at - now()))::integer,
      'notifications.no_room_for_test',
      v_limit::text,
      p_kind
    );
  end if;
end;
$$;

-- Adds a test notification for each destination of a rule of the tenant.
create function logloom_private.enqueue_rule_test(
  p_scope logloom_private.reading_scope,
  p_rule_id uuid
)
returns setof public.logloom_alert_delivery
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the outbox
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'test_alert_rule', null, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_rule constant logloom.alert_rules := logloom_private.locked_rule(v_scope, p_rule_id);
  v_sample logloom.alert_history;
  v_kind text;
begin
  perform
    logloom_private.require_not_held(v_scope, v_rule.held_at, 'alert rule'),
    logloom_private.require_view_of_session(v_scope, v_rule.view_id, 'alert rule');
  if exists (
    select
    from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.rule_id = p_rule_id and n.purpose = 'test'
      and n.created_at > now() - logloom_private.notification_test_interval()
  ) then
    perform logloom_private.refuse('notifications.tested_a_moment_ago');
  end if;
  perform pg_advisory_xact_lock(logloom_private.lock_key('notifications'), hashtext(v_tenant_id));
  for v_kind in
    select distinct logloom_private.channel_kind(d.channel)
    from unnest(v_rule.notification_destinations) d (channel)
  loop
    perform logloom_private.require_room_for_test(
      v_tenant_id, logloom_private.customer_of_view(v_rule.view_id), v_kind
    );
  end loop;
  v_sample.triggered_at := now();
  v_sample.window_end := date_trunc('minute', now());
  v_sample.window_start := v_sample.window_end - make_interval(mins => v_rule.window_minutes);
  v_sample.value := v_rule.threshold;
  v_sample.threshold := v_rule.threshold;
  return query
  select d.*
  from logloom_private.enqueue_notifications(
    v_rule, 'test', v_sample, logloom_private.notification_body('alert.test', v_rule, v_sample)
  ) n
  cross join lateral logloom_private.delivery(
    logloom_private.as_customer_reads(n, v_scope.customer)
  ) d;
  if not found then
    perform logloom_private.refuse('notifications.no_destination');
  end if;
end;
$$;

create function public.test_alert_rule(p_rule_id uuid default null)
returns setof public.logloom_alert_delivery
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select d.* from logloom_private.enqueue_rule_test(null, p_rule_id) d;
end;
$$;

comment on function public.test_alert_rule(uuid) is
  'Sends a notification marked as a test to each destination and returns the deliveries. Errors: '
  'PT400, PT401, PT404, PT429.';
