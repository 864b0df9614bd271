begin;
\ir ../actors.psql
\ir outbox.psql
select plan(39);
select pg_temp.fire(4);
create temp table deliveries as
select n.notification_id as id, n.channel, n.alert_id from logloom_private.notifications n;
grant select on deliveries to public;

-- A claim belongs to one call of the function until it expires.
create temp table claims as select c.* from public.claim_alert_notifications(20) c;
select results_eq(
  $$select c.channel, c.address, c.body = n.body, c.secrets
    from claims c join logloom_private.notifications n using (notification_id) order by 1$$,
  $$select 'email', 'ops@example.com', true, '{}'::text[]
    union all
    select 'webhook', 'https://example.com/hook', true, array[w.secret]
    from logloom_private.webhook_secrets w
    where w.rule_id = '00000000-0000-4000-9000-000000000001'$$,
  'a claim has all that a delivery needs, and a webhook its secret'
);
select is_empty(
  'select public.claim_alert_notifications(20)', 'a claimed notification is not claimed again'
);
select is(
  (select n.next_attempt_at - now() from pg_temp.outbox() n), '60 seconds',
  'until the claim expires'
);
update logloom_private.notifications set next_attempt_at = now();
create temp table later_claims as select c.* from public.claim_alert_notifications(20) c;
select is(
  (select array_agg(n.attempts)
    from logloom_private.notifications n), '{2,2}', 'then it is another attempt'
);
select public.settle_alert_notification(c.notification_id, c.claim_id, 'failed', 500, 'too late')
from claims c \g /dev/null
select is(
  (select array_agg(n.status) from logloom_private.notifications n), '{pending,pending}',
  'an expired claim cannot report a failure'
);
select public.settle_alert_notification(c.notification_id, c.claim_id, 'delivered', 200)
from claims c where c.channel = 'email' \g /dev/null
select is((pg_temp.outbox('email')).status, 'delivered', 'it can report a delivery');
select public.settle_alert_notification(
  c.notification_id, c.claim_id, 'failed', 550, 'no such user'
)
from later_claims c where c.channel = 'email' \g /dev/null
select is((pg_temp.outbox('email')).status, 'delivered', 'which stays');
select is(
  (
    select to_jsonb(h)
      - '{alert_id,rule_id,triggered_at,window_start,window_end,view_id}'::text[]
      - '{incident_id,silence_id,absent}'::text[]
    from logloom.alert_history h
  ),
  jsonb_build_object('notification_sent_at', now()) || '{
    "tenant_id": "acme", "value": 4, "threshold": 3, "acknowledged_at": null,
    "acknowledged_by": null, "notification_channels": ["email"], "notification_error": null,
    "group": null
  }',
  'the history names the channel that delivered it'
);

-- The pause between attempts grows.
select is(
  (
    select array_agg(
      logloom_private.retry_delay(a.attempts, null) between d.delay * 0.8 and d.delay * 1.2
    )
    from unnest(
      '{1,2,3,7,8,9,1000}'::integer[],
      '{5s,15s,45s,3645s,3h,3h,3h}'::interval[]
    ) d (attempts, delay)
    cross join lateral (select d.attempts from generate_series(1, 20)) a
    where not logloom_private.retry_delay(a.attempts, null) between d.delay * 0.8 and d.delay * 1.2
  ),
  null, 'waits triple from 5 s to 3 h, varied by a fifth'
);
select isnt(
  logloom_private.retry_delay(5, null), logloom_private.retry_delay(5, null),
    'and differ between notifications'
);
select is(logloom_private.retry_delay(1, 600), '10 minutes', 'a receiver may ask for longer');
select is(logloom_private.retry_delay(1, 1000000000), '3 hours', 'but not for ever');

select pg_temp.deliver('retry', p_status => 500, p_error => 'HTTP 500');
select is(
  (select array[n.status, n.last_status::text, n.last_error, n.claim_id::text]
    from pg_temp.outbox() n),
  '{pending,500,HTTP 500,NULL}', 'a failed attempt is recorded'
);
select ok(
  (
    select n.next_attempt_at - now() between interval '36 s' and interval '54 s'
    from pg_temp.outbox() n
  ),
  'and the next comes after the third wait'
);
select is_empty('select public.claim_alert_notifications(20)', 'nothing is due before that');
update logloom_private.notifications set expires_at = now() + interval '1 second';
select pg_temp.deliver('retry', p_status => 503, p_error => 'HTTP 503');
select is((pg_temp.outbox()).status, 'failed', 'after 24 h a delivery is given up');
select is(
  (select h.notification_error from logloom.alert_history h), 'webhook: HTTP 503',
  'the history says why'
);
select is(
  (select h.notification_channels
    from logloom.alert_history h), '{email}', 'the channel did not deliver it'
);

-- A user can retry a delivery that was given up.
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select d.delivery_id, d.channel, d.status, d.attempts, d.last_status, d.last_error,
      d.delivered_at, d.next_attempt_at, d.gives_up_at
    from deliveries x, public.list_alert_deliveries(x.alert_id) d
    where d.delivery_id = x.id order by d.channel$$,
  $$select x.id, x.channel, v.status, v.attempts, v.last_status, v.last_error, v.delivered_at,
      null::timestamptz, null::timestamptz
    from deliveries x
    join (values
      ('email', 'delivered', 2, 200, null::text, now()),
      ('webhook', 'failed', 4, 503, 'HTTP 503', null)
    ) v (channel, status, attempts, last_status, last_error, delivered_at) using (channel)
    order by x.channel$$,
  'a tenant sees the state of its deliveries'
);
select throws_ok(
  format('select public.retry_alert_delivery(%L)', x.id),
  'PT400', 'The delivery has already arrived', 'a delivered notification is not sent again'
)
from deliveries x where x.channel = 'email';
select throws_ok(
  'select public.retry_alert_delivery(gen_random_uuid())', 'PT404', 'Delivery not found',
  'an unknown delivery is not found'
);
select is(
  (
    select count(*)::integer
    from public.list_alert_deliveries((select alert_id from deliveries limit 1), p_limit => 1)
  ),
  1, 'deliveries have pages'
);
select pg_temp.act_as_postgres();
update logloom.alert_rules
set notification_config = notification_config || '{"webhook_url": "https://example.com/mended"}'
where name = 'r1';
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select d.status, d.attempts, d.next_attempt_at, d.gives_up_at, d.last_error
    from deliveries x, public.retry_alert_delivery(x.id) d where x.channel = 'webhook'$$,
  $$values ('pending', 4, now(), now() + interval '1 day', 'HTTP 503')$$,
  'a failed delivery can be retried, and shows its deadline and last error'
);
select pg_temp.act_as_postgres();
select is(
  (select array[n.address, (n.expires_at - now())::text] from pg_temp.outbox() n),
  '{https://example.com/mended,"1 day"}',
  'it uses the rule''s current address, for another 24 hours'
);
select pg_temp.deliver('delivered', p_status => 204);
select is(
  (select h.notification_channels
    from logloom.alert_history h), '{email,webhook}', 'then it is delivered'
);
select pg_temp.fire(5);
select pg_temp.deliver('failed', p_status => 410, p_error => repeat('x', 1000));
select is(
  (select array[n.status, length(n.last_error)::text] from logloom_private.notifications n
    where n.last_status = 410),
  '{failed,500}', 'a permanent error stops the delivery'
);

-- Each rule has its own webhook secret.
create temp table secrets as
select w.secret from logloom_private.webhook_secrets w where w.rule_id::text ~ '1$';
grant select on secrets to public;
select pg_temp.act_as_user('acme', 'alice');
create temp table rotated as
select r.* from public.rotate_alert_webhook_secret('00000000-0000-4000-9000-000000000001') r;
grant select on rotated to public;
select ok(
  (select r.secret ~ '^whsec_' and r.secret <> s.secret from rotated r, secrets s),
  'rotating gives a new secret'
);
select is(
  (select r.previous_valid_until - now() from rotated r), '24 hours', 'both are valid for a day'
);
select pg_temp.act_as_postgres();
select pg_temp.fire(6);
select is(
  (select c.secrets from public.claim_alert_notifications(20) c where c.channel = 'webhook'),
  (select array[r.secret, s.secret] from rotated r, secrets s), 'meanwhile both sign'
);
update logloom_private.webhook_secrets set previous_valid_until = now();
update logloom_private.notifications set next_attempt_at = now();
select is(
  (select c.secrets from public.claim_alert_notifications(20) c where c.channel = 'webhook'),
  (select array[r.secret] from rotated r), 'then only the new one signs'
);

-- Expired notifications.
delete from logloom_private.notifications;
update logloom.alert_rules set notification_destinations = '{webhook}' where name = 'r1';
select pg_temp.fire(7);
select public.claim_alert_notifications(20) \g /dev/null
select pg_temp.fire(8);
update logloom_private.webhook_secrets set changed_at = now() - interval '1 hour';
update logloom_private.notifications
set expires_at = now() - interval '4 days', last_error = 'HTTP 503';
select is_empty(
  'select public.claim_alert_notifications(20)', 'an expired notification is not sent'
);
select is(
  logloom_private.send_notifications(), '0', 'it is given up before the function is called'
);
select results_eq(
  $$select h.value, n.status, n.last_error, h.notification_error
    from logloom_private.notifications n join logloom.alert_history h using (alert_id)
    order by 1$$,
  $$values
    (7::double precision, 'pending', 'HTTP 503', null),
    (8, 'failed', 'Not delivered in time: HTTP 503', 'webhook: Not delivered in time: HTTP 503')$$,
  'which it says; a claimed one is not given up'
);
update logloom_private.notifications set next_attempt_at = now() where status = 'pending';
select logloom_private.send_notifications() \g /dev/null
select is(
  (select array_agg(n.status) from logloom_private.notifications n), '{failed,failed}',
  'until its claim has expired'
);
update logloom.alert_rules set notification_destinations = '{email,webhook}';

select throws_ok(
  'select public.claim_alert_notifications(101)', 'PT400', 'Invalid p_limit: 1 to 100',
  'p_limit is at most 100'
);
select throws_ok(
  $$select public.settle_alert_notification(gen_random_uuid(), gen_random_uuid(), 'lost')$$,
  'PT400', 'Invalid p_outcome: one of delivered, retry, failed', 'an unknown outcome is refused'
);

-- Another receiver gets another secret.
create temp table signed as
select w.secret from logloom_private.webhook_secrets w where w.rule_id::text ~ '1$';
create function pg_temp.moves(p_url text)
returns boolean
language plpgsql
as $$
begin
  update logloom.alert_rules r
  set notification_config = r.notification_config || jsonb_build_object('webhook_url', p_url)
  where r.rule_id::text ~ '1$';
  return (
    select w.secret <> s.secret and w.previous_secret is null
    from logloom_private.webhook_secrets w, signed s
    where w.rule_id::text ~ '1$'
  );
end;
$$;
select is(pg_temp.moves('https://example.com/another'), false, 'the same host keeps its secret');
select is(pg_temp.moves('https://EXAMPLE.com:443/hook'), false, 'however it is written');
select is(pg_temp.moves('https://example.com:444/hook'), true, 'another port gets a new secret');

select * from finish();
rollback;
