-- Tests messages about the end of an incident, their order, and collected messages.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir outbox.psql
\ir ../stopped_clock.psql
select plan(45);

select pg_temp.stop_clock('collect_alert');

create function pg_temp.settle_at(p_minute integer, p_values jsonb)
returns void
language plpgsql
as $$
declare
  v_rule logloom.alert_rules;
  v_end constant timestamptz := '2026-03-03T12:00Z'::timestamptz + make_interval(mins => p_minute);
  v_round logloom_private.alert_rounds;
begin
  select r.* into v_rule from logloom.alert_rules r where r.name = 'r1';
  v_round.window_end := v_end;
  perform logloom_private.settle_alert_windows(
    array(
      select row(
        v_rule.rule_id, v_end - interval '5 minutes', v_end, v.value::double precision, null,
        jsonb_build_object('service', v.key), null
      )::logloom_private.alert_window
      from jsonb_each_text(p_values) v
    ) || row(v_rule.rule_id, v_end, v_end, null, null, null, null)::logloom_private.alert_window,
    v_round, now()
  );
end;
$$;
create function pg_temp.sent()
returns text[]
language sql
return array(
  select concat_ws(
    ' ', n.channel, n.purpose, n.body::jsonb ->> 'type',
    (
      select string_agg(a -> 'group' ->> 'service', '+' order by a -> 'group' ->> 'service')
      from jsonb_array_elements(n.body::jsonb #> '{data,alerts}') a
    )
  )
  from logloom_private.notifications n
  order by n.position
);
create temp table sealed as select 'lls1.abcd-_09.' || repeat('x', 40) as text;
update logloom.alert_rules set
  asked_at = '2026-03-01',
  notification_secrets = jsonb_build_object('slack_url', s.text, 'pagerduty_key', s.text),
  notification_destinations = '{slack,pagerduty}'
from sealed s;

select pg_temp.settle_at(1, '{"api": 4}');
select pg_temp.settle_at(2, '{"api": 1}');
select is(
  pg_temp.sent(),
  '{slack alert alert.triggered api,pagerduty alert alert.triggered api,
    pagerduty recovery alert.resolved api}',
  'only a pager is told the end, unless the rule says otherwise'
);
select is(
  (select n.address from logloom_private.notifications n where n.channel = 'slack'), s.text,
  'the address is the sealed one'
) from sealed s;
select results_eq(
  $$select c.channel, c.body::jsonb ->> 'type', c.tenant_id, c.is_complete
    from public.claim_alert_notifications(20) c order by 1$$,
  $$values
    ('pagerduty', 'alert.triggered', 'acme', false), ('slack', 'alert.triggered', 'acme', false)$$,
  'a recovery waits for its alert'
);
select public.settle_alert_notification(n.notification_id, n.claim_id, 'delivered', 202)
from logloom_private.notifications n where n.claim_id is not null \g /dev/null
select results_eq(
  $$select c.channel, c.body::jsonb ->> 'type' from public.claim_alert_notifications(20) c$$,
  $$values ('pagerduty', 'alert.resolved')$$, 'then it is sent'
);
select is(
  (
    select (n.body::jsonb -> 'data')
      - '{rule_id,incident_id,opened_at,resolved_at,window_start,window_end}'::text[]
    from logloom_private.notifications n where n.purpose = 'recovery'
  ),
  '{
    "alert_id": null, "tenant_id": "acme", "name": "r1", "description": null,
    "query_dsl": "level:error", "value": 4, "peak_value": 4, "group": {"service": "api"},
    "absent": false, "kind": "query", "returned": false,
    "comparison": "gt", "threshold": 3, "window_minutes": 5, "resolution": "recovered",
    "alerts": [{"alert_id": null, "group": {"service": "api"}, "value": 4, "absent": false}]
  }',
  'it names the incident'
);

-- Rules with notify_on_recovery.
delete from logloom_private.notifications;
update logloom.alert_rules set notify_on_recovery = true,
  notification_destinations = '{slack,webhook,email}';
select pg_temp.settle_at(3, '{"api": 5}');
select pg_temp.settle_at(4, '{}');
select results_eq(
  'select unnest(pg_temp.sent()) order by 1',
  array[
    'email alert alert.triggered api', 'email recovery alert.resolved api',
    'slack alert alert.triggered api', 'slack recovery alert.resolved api',
    'webhook alert alert.triggered api', 'webhook recovery alert.resolved api'
  ],
  'notify_on_recovery tells all destinations'
);
select results_eq(
  $$select d.purpose, d.alert_id is null, d.channel
    from logloom.alert_incidents i
    cross join unnest((public.get_alert_incident(i.incident_id)).deliveries) d
    where i.value = 5 order by d.purpose, d.channel$$,
  $$values
    ('alert', false, 'email'), ('alert', false, 'slack'), ('alert', false, 'webhook'),
    ('recovery', true, 'email'), ('recovery', true, 'slack'), ('recovery', true, 'webhook')$$,
  'the incident has the deliveries'
) from pg_temp.act_as_user('acme', 'alice');
select pg_temp.act_as_postgres();

-- Once the end of an incident was sent, the next alert is sent in spite of the cooldown.
delete from logloom_private.notifications;
update logloom.alert_rules set cooldown_minutes = 30, notification_destinations = '{slack}';
select pg_temp.settle_at(8, '{"api": 5}');
select pg_temp.settle_at(9, '{"api": 5}');
select pg_temp.settle_at(10, '{}');
select pg_temp.settle_at(11, '{"api": 6, "web": 4}');
select pg_temp.settle_at(12, '{"api": 7, "web": 4}');
select results_eq(
  'select unnest(pg_temp.sent()) order by 1',
  array[
    'slack alert alert.triggered api', 'slack alert alert.triggered api',
    'slack alert alert.triggered web', 'slack recovery alert.resolved api'
  ],
  'an alert after an announced end is sent even within the cooldown; a repeat is not'
);
select results_eq(
  $$select h.value, i.fired_count, i.resolution, i.end_told_at is null
    from logloom.alert_history h join logloom.alert_incidents i using (incident_id)
    where h."group" ->> 'service' = 'api' and h.window_end > '2026-03-03T12:05Z'
    order by h.window_end$$,
  $$values (5::double precision, 1, 'recovered', false), (6, 1, null, true)$$,
  'it is another incident in the history'
);
-- A late record makes the rule evaluate windows from before the incident ended again. This sends no
-- new message.
select pg_temp.settle_at(13, '{}');
select pg_temp.settle_at(12, '{"api": 8, "web": 4}');
select pg_temp.settle_at(13, '{}');
select results_eq(
  $$select count(*)::integer, count(*) filter (where n.purpose = 'recovery')::integer
    from logloom_private.notifications n$$,
  $$values (6, 3)$$, 'nothing fires or ends twice'
);
select pg_temp.settle_at(13, '{"api": 9}');
select results_eq(
  $$select h.value, i.fired_count from logloom.alert_history h
    join logloom.alert_incidents i using (incident_id)
    where h.window_end = '2026-03-03T12:13Z'$$,
  $$values (9::double precision, 2)$$, 'a record that disproves the end fires'
);
-- Messages stay in order.
select results_eq(
  $$select c.body::jsonb ->> 'type' from public.claim_alert_notifications(20) c$$,
  array['alert.triggered', 'alert.triggered'], 'alerts come before recoveries'
);
select pg_temp.settle_at(60, '{}');
delete from logloom_private.notifications;

-- A rule that sends no message about the end keeps to its cooldown.
update logloom.alert_rules set notify_on_recovery = false;
select pg_temp.settle_at(80, '{"api": 5}');
select pg_temp.settle_at(81, '{}');
select pg_temp.settle_at(82, '{"api": 6}');
select pg_temp.settle_at(83, '{}');
select is(
  pg_temp.sent(), '{slack alert alert.triggered api}',
  'a rule that does not announce the end keeps its cooldown'
);
update logloom.alert_rules set notify_on_recovery = true;
update logloom.alert_rules set cooldown_minutes = 0;
delete from logloom_private.notifications;
select pg_temp.settle_at(144, '{"api": 5}');
select public.settle_alert_notification(c.notification_id, c.claim_id, 'failed', 410, 'gone')
from public.claim_alert_notifications(20) c \g /dev/null
update logloom.alert_rules set notification_destinations = '{slack,webhook}';
select pg_temp.settle_at(145, '{}');
select is(
  pg_temp.sent(), '{slack alert alert.triggered api}',
  'nor is it sent if the alert was not delivered'
);
delete from logloom_private.notifications;
update logloom.alert_rules set notification_destinations = '{slack}';
select pg_temp.settle_at(146, '{"api": 5}');
select public.settle_alert_notification(c.notification_id, c.claim_id, 'delivered', 200)
from public.claim_alert_notifications(20) c \g /dev/null
delete from logloom_private.notifications;
select pg_temp.settle_at(147, '{}');
select is(
  pg_temp.sent(), '{slack recovery alert.resolved api}', 'but if it was delivered, however long ago'
);

-- A recovery waits for its alert, and the alert is given up or expires.
create function pg_temp.claimed()
returns text[]
language sql
return array(select c.body::jsonb ->> 'type' from public.claim_alert_notifications(20) c);
delete from logloom_private.notifications;
select pg_temp.settle_at(148, '{"api": 5}');
select pg_temp.settle_at(149, '{}');
savepoint both_wait;
select public.settle_alert_notification(c.notification_id, c.claim_id, 'failed', 410, 'gone')
from public.claim_alert_notifications(20) c \g /dev/null
select is(pg_temp.claimed(), '{}', 'a recovery is not sent if its alert has failed');
select is(
  (select n.status || ': ' || n.last_error from logloom_private.notifications n
    where n.purpose = 'recovery'),
  'failed: The beginning of the incident was not delivered', 'and says why'
);
rollback to both_wait;
update logloom_private.notifications set expires_at = now() where purpose = 'alert';
select logloom_private.give_up_notifications() \g /dev/null
select is(pg_temp.claimed(), '{}', 'nor if its alert has expired');
rollback to both_wait;

-- A silence holds back messages.
delete from logloom_private.notifications;
insert into logloom.alert_silences (tenant_id, starts_at, ends_at, created_by)
values ('acme', now() - interval '1 minute', now() + interval '1 hour', 'alice');
update logloom.alert_rules set notification_destinations = '{slack,pagerduty}';
select pg_temp.settle_at(150, '{"api": 5}');
select pg_temp.settle_at(151, '{}');
select is(pg_temp.sent(), '{}', 'a silenced alert sends nothing, not even its end');
delete from logloom.alert_silences;
select pg_temp.settle_at(152, '{"api": 5}');
insert into logloom.alert_silences (tenant_id, starts_at, ends_at, created_by)
values ('acme', now() - interval '1 minute', now() + interval '1 hour', 'alice');
select pg_temp.settle_at(153, '{}');
select is(
  pg_temp.sent(),
  '{slack alert alert.triggered api,pagerduty alert alert.triggered api,
    pagerduty recovery alert.resolved api}',
  'a pager''s incident from before the silence ends all the same'
);
delete from logloom.alert_silences;

-- Deleting a rule or a tenant.
delete from logloom_private.notifications;
select pg_temp.settle_at(160, '{"api": 5}');
savepoint before_end;
update logloom.alert_rules set enabled = false where name = 'r1';
select is(
  (pg_temp.sent())[3:], '{slack recovery alert.resolved api,pagerduty recovery alert.resolved api}',
  'disabling a rule ends its incidents'
);
rollback to before_end;
delete from logloom.alert_rules where name = 'r1';
select is(
  (select array_agg(n.body::jsonb #>> '{data,resolution}') from logloom_private.notifications n
    where n.purpose = 'recovery'),
  '{rule_deleted,rule_deleted}', 'so does deleting it'
);
select is(
  (select count(*)::integer from logloom_private.notifications n where n.address = s.text), 4,
  'pending messages do not need the rule'
) from sealed s;
rollback to before_end;
select pg_temp.act_as_user('acme', 'alice');
select public.delete_tenant('acme') \g /dev/null
select pg_temp.act_as_postgres();
select is(pg_temp.sent(), '{}', 'a tenant that is being deleted sends nothing');
rollback to before_end;
delete from logloom.tenants where tenant_id = 'acme';
select is(pg_temp.sent(), '{}', 'deleting a tenant sends nothing');
rollback to before_end;

-- Alerts of several groups are collected into one message.
delete from logloom_private.notifications;
update logloom.alert_rules set group_wait_seconds = 30,
  notification_destinations = '{slack,pagerduty}';
select pg_temp.settle_at(170, '{"api": 5, "web": 6, "job": 7}');
select results_eq(
  'select unnest(pg_temp.sent()) order by 1',
  array[
    'pagerduty alert alert.triggered api', 'pagerduty alert alert.triggered job',
    'pagerduty alert alert.triggered web', 'slack alert alert.triggered api+job+web'
  ],
  'alerts of many groups are one message; a pager has an incident for each'
);
savepoint collected;
-- now() does not change in this transaction, so the times are set by hand.
update logloom.alert_incidents set resolved_at = now() - interval '1 hour'
where resolved_at is not null;
select pg_temp.settle_at(171, '{}');
select results_eq(
  $$select n.channel, array(
      select a #>> '{group,service}' from jsonb_array_elements(n.body::jsonb #> '{data,alerts}') a
      order by 1
    )
    from logloom_private.notifications n where n.purpose = 'recovery' order by 1, 2$$,
  $$values
    ('pagerduty', '{api}'::text[]), ('pagerduty', '{job}'), ('pagerduty', '{web}'),
    ('slack', '{api,job,web}')$$,
  'so are their recoveries'
);
update logloom_private.notifications set next_attempt_at = now();
savepoint ended;
select public.settle_alert_notification(c.notification_id, c.claim_id, 'failed', 410, 'gone')
from public.claim_alert_notifications(20) c \g /dev/null
select is(pg_temp.claimed(), '{}', 'recoveries are not sent if no alert was delivered');
rollback to ended;
select public.settle_alert_notification(c.notification_id, c.claim_id, 'delivered', 200)
from public.claim_alert_notifications(20) c \g /dev/null
select results_eq(
  'select c.channel from public.claim_alert_notifications(20) c order by 1',
  array['pagerduty', 'pagerduty', 'pagerduty', 'slack'], 'but if one was'
);
rollback to collected;
-- A group that recovers and fires again while its messages wait.
select pg_temp.settle_at(171, '{"web": 6}');
select pg_temp.settle_at(172, '{"api": 8, "web": 6}');
select pg_temp.settle_at(173, '{}');
select results_eq(
  $$select s from unnest(pg_temp.sent()) s where s like 'slack%'$$,
  array[
    'slack alert alert.triggered api+job+web+web', 'slack recovery alert.resolved api+job',
    'slack alert alert.triggered api+web', 'slack recovery alert.resolved api+web'
  ],
  'the last message about a group says how it is'
);
rollback to collected;
select is(
  (select n.next_attempt_at - now() from logloom_private.notifications n where n.channel = 'slack'),
  '30 seconds', 'the message waits for group_wait_seconds'
);
update logloom_private.notifications set next_attempt_at = now();
select public.settle_alert_notification(c.notification_id, c.claim_id, 'delivered', 200)
from public.claim_alert_notifications(20) c \g /dev/null
select is(
  (select count(*)::integer from logloom.alert_history h
    where h.window_end = '2026-03-03T14:50Z' and h.notification_channels @> '{pagerduty,slack}'),
  3, 'each of its alerts is delivered'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select array_agg(distinct d.channel)
    from public.list_alert_history(p_limit => 100) h, public.list_alert_deliveries(h.alert_id) d
    where h.window_end = '2026-03-03T14:50Z'),
  '{pagerduty,slack}', 'and names the delivery'
);
select pg_temp.act_as_postgres();

-- The limit and the switch of webhooks apply to all channels that use HTTP.
delete from logloom_private.notifications;
update logloom.alert_rules set group_wait_seconds = 0;
insert into logloom.tenant_settings (tenant_id, webhook_enabled) values ('acme', false);
select pg_temp.settle_at(180, '{"api": 5}');
select is(pg_temp.sent(), '{}', 'webhook_enabled applies to all of them');
update logloom.tenant_settings set webhook_enabled = true;
update logloom.plans set webhooks_per_hour = 1 where plan_id = 'pro';
delete from logloom_private.notification_usage;
select pg_temp.settle_at(181, '{"api": 5}');
select is(
  (select count(*)::integer from public.claim_alert_notifications(20)), 1,
  'webhooks_per_hour applies to all of them together'
);

-- Secrets are sealed.
insert into logloom_private.webhook_secrets (rule_id, secret, previous_secret)
select r.rule_id, 'whsec_new', 'whsec_old' from logloom.alert_rules r where r.name = 'r1'
on conflict (rule_id) do update set secret = 'whsec_new', previous_secret = 'whsec_old';
delete from logloom_private.webhook_secrets w using logloom.alert_rules r
where r.rule_id = w.rule_id and r.name <> 'r1';
select is(
  (
    select jsonb_build_array(h.alerts -> 'unsealed_secrets', h.alerts -> 'console_url')
    from (select logloom_private.read_health() #> '{checks,alerts}' as alerts) h
  ),
  '[1, null]', 'health counts rules with plain secrets, and says where the console is'
);
select results_eq(
  $$select u.tenant_id, (select array_agg(s order by s) from unnest(u.secrets) s)
    from public.list_unsealed_alert_secrets('abcd-_09') u$$,
  $$values ('acme', '{whsec_new,whsec_old}'::text[])$$, 'plain secrets must be sealed'
);
select is(
  (select count(*)::integer
    from public.list_unsealed_alert_secrets('other-09') u, unnest(u.secrets) s),
  6, 'so must secrets sealed with another key'
);
select is_empty(
  $$select public.list_unsealed_alert_secrets('other-09', 'ffffffff-ffff-4fff-8fff-ffffffffffff')$$,
  'they come in pages'
);
select public.seal_alert_secret(
  r.rule_id, encode(sha256('whsec_new'), 'hex'), 'lls1.abcd-_09.' || repeat('y', 40)
) from logloom.alert_rules r where r.name = 'r1' \g /dev/null
select is(
  (select row(w.secret, w.previous_secret)::text from logloom_private.webhook_secrets w),
  '(lls1.abcd-_09.' || repeat('y', 40) || ',whsec_old)', 'a sealed secret replaces it'
);
select public.seal_alert_secret(
  r.rule_id, encode(sha256(convert_to(s.text, 'UTF8')), 'hex'),
  'lls1.other-09.' || repeat('z', 40)
) from logloom.alert_rules r, sealed s where r.name = 'r1' \g /dev/null
select is(
  (select array_agg(distinct e.value) from logloom.alert_rules r,
    jsonb_each_text(r.notification_secrets) e where r.name = 'r1'),
  array['lls1.other-09.' || repeat('z', 40)], 'also secrets of channels'
);
-- A sealed key of Logloom ends with the digest of the key.
select public.seal_alert_secret(
  r.rule_id, encode(sha256(convert_to('lls1.other-09.' || repeat('z', 40), 'UTF8')), 'hex'),
  'lls1.newer-09.' || repeat('z', 40) || '.' || repeat('0a', 32)
) from logloom.alert_rules r where r.name = 'r1' \g /dev/null
select is(
  (select array_agg(distinct e.value) from logloom.alert_rules r,
    jsonb_each_text(r.notification_secrets) e where r.name = 'r1'),
  array['lls1.newer-09.' || repeat('z', 40) || '.' || repeat('0a', 32)],
  'also if they contain a key of Logloom'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select r.notification_secrets from public.list_alert_rules() r),
  '{"slack_url": {"set": true}, "pagerduty_key": {"set": true}}',
  'a user only sees that they are set'
);
select throws_ok(
  $$select public.update_alert_rule(r.rule_id, p_secrets => '{"slack_url": "https://x"}')
    from public.list_alert_rules() r$$,
  'PT400', 'Invalid p_secrets: slack_url is not sealed', 'plain text is refused'
);
select throws_ok(
  $$select public.update_alert_rule(r.rule_id, p_secrets => '{"slack_url": null}')
    from public.list_alert_rules() r$$,
  'PT400', 'Invalid p_notification_config: an enabled rule needs the address of each destination',
  'an enabled rule keeps the secrets that it needs'
);
select pg_temp.act_as_postgres();

select * from finish();
rollback;
