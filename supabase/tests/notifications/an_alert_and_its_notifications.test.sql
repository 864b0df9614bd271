begin;
\ir ../actors.psql
\ir outbox.psql
select plan(17);

select pg_temp.fire(4);
select results_eq(
  $$select channel, address, status, attempts, n.alert_id = h.alert_id, expires_at - now()
    from logloom_private.notifications n, logloom.alert_history h order by channel$$,
  $$values
    ('email', 'ops@example.com', 'pending', 0, true, interval '24 hours'),
    ('webhook', 'https://example.com/hook', 'pending', 0, true, interval '24 hours')$$,
  'an alert adds a notification for each destination'
);
select is(
  (select n.body::jsonb - 'data' from logloom_private.notifications n where n.channel = 'webhook'),
  '{"type": "alert.triggered", "timestamp": "2026-03-03T12:04:00.000Z"}', 'the body has its type'
);
select is(
  (select n.body::jsonb -> 'data' from logloom_private.notifications n where n.channel = 'webhook'),
  (
    select jsonb_build_object(
      'alert_id', h.alert_id, 'incident_id', h.incident_id, 'alerts', jsonb_build_array(
        jsonb_build_object('alert_id', h.alert_id, 'group', null, 'value', 4, 'absent', false)
      )
    )
    from logloom.alert_history h
  ) || '{
    "rule_id": "00000000-0000-4000-9000-000000000001", "tenant_id": "acme", "name": "r1",
    "description": null, "query_dsl": "level:error", "value": 4, "group": null, "absent": false,
    "kind": "query", "returned": false,
    "comparison": "gt", "threshold": 3,
    "window_minutes": 5, "window_start": "2026-03-03T11:59:00.000Z",
    "window_end": "2026-03-03T12:04:00.000Z", "triggered_at": "2026-03-03T12:04:00.000Z"
  }',
  'and the data of the alert'
);
select matches(
  (select w.secret from logloom_private.webhook_secrets w), '^whsec_[A-Za-z0-9+/]{43}=$',
  'the rule has a secret of 32 bytes'
);
select pg_temp.fire(4);
select is(
  (select count(*)::integer
    from logloom_private.notifications), 2, 'a window that fired sends nothing more'
);

-- The tenant's preferences switch channels off.
delete from logloom.alert_history;
insert into logloom.tenant_settings (tenant_id, email_enabled) values ('acme', false);
select pg_temp.fire(5);
select results_eq(
  'select channel from logloom_private.notifications', array['webhook'],
  'a channel that the tenant has turned off gets nothing'
);
update logloom.tenant_settings set email_enabled = true, webhook_enabled = false;
select pg_temp.fire(6);
select results_eq(
  $$select n.channel
    from logloom_private.notifications n join logloom.alert_history h using (alert_id)
    where h.value = 6$$,
  array['email'], 'nor does a webhook'
);
update logloom.tenant_settings set webhook_enabled = true;
update logloom.alert_rules set notification_destinations = '{}';
select pg_temp.fire(7);
select is(
  (select count(*)::integer
    from logloom_private.notifications n join logloom.alert_history h using (alert_id)
    where h.value = 7),
  0, 'a rule without destinations still has a history'
);

-- A test is sent to each destination.
update logloom.alert_rules set notification_destinations = '{webhook,email}';
delete from logloom.alert_history;
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select channel, status, attempts, alert_id, rule_id, last_error
    from public.test_alert_rule('00000000-0000-4000-9000-000000000001') order by channel$$,
  $$values
    ('email', 'pending', 0, null::uuid, '00000000-0000-4000-9000-000000000001'::uuid, null::text),
    ('webhook', 'pending', 0, null, '00000000-0000-4000-9000-000000000001', null)$$,
  'a test goes to each destination'
);
select throws_ok(
  $$select public.test_alert_rule('00000000-0000-4000-9000-000000000001')$$,
  'PT429', 'This alert rule was tested a moment ago', 'a second test must wait'
);
select throws_ok(
  $$select public.test_alert_rule('00000000-0000-4000-9000-000000000002')$$,
  'PT404', 'Alert rule not found', 'another tenant''s rule is not found'
);
select throws_ok(
  'select public.test_alert_rule()', 'PT400', 'Missing required parameter: p_rule_id',
  'a rule must be named'
);
select pg_temp.act_as_postgres();
select is(
  (select jsonb_build_array(n.body::jsonb #> '{data,alert_id}', n.body::jsonb -> 'type')
    from logloom_private.notifications n where n.channel = 'webhook'),
  '[null, "alert.test"]', 'a test is marked as a test'
);
select is_empty('select from logloom.alert_history', 'and is not in the history');
update logloom_private.notifications set created_at = now() - interval '10 seconds';
update logloom.alert_rules set notification_destinations = '{}';
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  $$select public.test_alert_rule('00000000-0000-4000-9000-000000000001')$$,
  'PT400', 'The alert rule has no destination that notifications may go to',
  'without a destination a test is refused'
);
select is(
  (select count(*)::integer from public.list_alert_deliveries(
    p_rule_id => '00000000-0000-4000-9000-000000000001'
  )),
  2, 'deliveries of the rule include tests'
);
select throws_ok(
  'select public.list_alert_deliveries()', 'PT400', 'Missing required parameter: p_alert_id',
  'an alert or rule must be named'
);

select * from finish();
rollback;
