begin;
set local timezone = 'UTC';
\ir ../actors.psql
select plan(21);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free'), ('umbrella', 'free');
insert into logloom.alert_history (
  alert_id, tenant_id, rule_id, triggered_at, value, threshold, notification_sent_at,
  notification_channels
)
select
  ('00000000-0000-4000-8000-00000000000' || i)::uuid,
  case when i = 6 then 'umbrella' else 'acme' end,
  ('00000000-0000-4000-9000-00000000000' || i % 2)::uuid,
  '2026-11-21T12:00Z'::timestamptz - make_interval(hours => i), i + 0.5, i,
  case when i = 1 then '2026-11-21T11:00:02Z'::timestamptz end,
  case when i = 1 then '{email}'::text[] else '{}' end
from generate_series(1, 6) i;

create function pg_temp.listed(p_arguments text default '')
returns text
language plpgsql
as $$
declare
  v_listed text;
begin
  execute format(
    'select string_agg(right(h.alert_id::text, 1), '''') from public.list_alert_history(%s) h',
    p_arguments
  ) into v_listed;
  return coalesce(v_listed, '');
end;
$$;

select pg_temp.act_as_user('acme', 'alice');
select is(
  to_jsonb(h),
  '{
    "alert_id": "00000000-0000-4000-8000-000000000001",
    "rule_id": "00000000-0000-4000-9000-000000000001", "tenant_id": "acme",
    "triggered_at": "2026-11-21T11:00:00+00:00", "value": 1.5, "threshold": 1,
    "acknowledged": false, "acknowledged_at": null, "acknowledged_by": null,
    "notification_sent": true, "notification_sent_at": "2026-11-21T11:00:02+00:00",
    "notification_channels": ["email"], "notification_error": null, "window_start": null,
    "window_end": null, "group": null, "incident_id": null, "resolved_at": null,
    "silence_id": null, "absent": false
  }',
  'an alert is shown'
)
from public.list_alert_history(p_limit => 1) h;
select is(
  (select h.notification_sent from public.list_alert_history() h where h.value = 2.5), false,
  'an alert that was not delivered is shown'
);

select is(pg_temp.listed(c.arguments), c.expected, 'list: ' || c.arguments)
from (
  values
    ('', '12345'),
    ($$p_tenant_id => 'acme'$$, '12345'),
    ($$p_rule_id => '00000000-0000-4000-9000-000000000001'$$, '135'),
    ($$p_rule_id => '00000000-0000-4000-9000-000000000009'$$, ''),
    ($$p_ts_from => '2026-11-21T09:00Z'$$, '123'),
    ($$p_ts_to => '2026-11-21T09:00Z'$$, '45'),
    ($$p_ts_from => '2026-11-21T09:00Z', p_ts_to => '2026-11-21T09:00:00.000001Z'$$, '3'),
    ('p_acknowledged => false', '12345'),
    ('p_acknowledged => true', ''),
    ('p_limit => 2', '12'),
    ($$p_limit => 2, p_after => '00000000-0000-4000-8000-000000000002'$$, '34')
) c (arguments, expected);
select throws_ok(
  $$select public.list_alert_history(
    p_ts_from => '2026-11-21T09:00Z', p_ts_to => '2026-11-21T09:00Z'
  )$$,
  'PT400', 'Invalid range: p_ts_from must be before p_ts_to', 'an empty range'
);
select throws_ok(
  $$select public.list_alert_history(p_after => '00000000-0000-4000-8000-000000000006')$$,
  'PT400', 'Invalid p_after: no such alert', 'p_after cannot be another tenant''s alert'
);

select is(to_jsonb(a), '{"success": true}', 'acknowledged')
from public.acknowledge_alert('00000000-0000-4000-8000-000000000002') a;
select is(pg_temp.listed('p_acknowledged => true'), '2', 'p_acknowledged finds it');
select pg_temp.act_as_postgres();
update logloom.alert_history set acknowledged_at = now() - interval '1 hour'
where acknowledged_at is not null;
select pg_temp.act_as_user('acme', 'bob');
select is(to_jsonb(a), '{"success": true}', 'acknowledged again, by another')
from public.acknowledge_alert('00000000-0000-4000-8000-000000000002') a;
select is(
  array[h.acknowledged::text, h.acknowledged_by, (now() - h.acknowledged_at)::text],
  '{true,alice,01:00:00}', 'the first acknowledgement stays'
)
from public.list_alert_history(p_acknowledged => true) h;
select throws_ok(
  $$select public.acknowledge_alert('00000000-0000-4000-8000-000000000006')$$,
  'PT404', 'Alert not found', 'another tenant''s alert is not found'
);
select throws_ok(
  'select public.acknowledge_alert()',
  'PT400', 'Missing required parameter: p_alert_id', 'an alert must be named'
);

select * from finish();
rollback;
