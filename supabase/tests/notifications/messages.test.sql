-- A message also has a link and the newest records within the rule's view.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
select plan(22);

-- The query for the counted records.
select is(logloom_private.records_query(c.query, c.of_group::jsonb), c.expected, c.query)
from (
  values
    ('level:error', null, 'level:error'),
    ('level:error | count()', null, 'level:error'),
    ('| count()', null, '*'),
    ('"a | b" | where service:api | p95(@ms)', null, '"a | b" | where service:api'),
    ('a | count() if (b) as e, count() as n | math e / n as s | math s * 2 as t', null, 'a'),
    ('x | count() by service', '{"service": "api"}', 'x | where service:="api"'),
    ('x | count() by service', '{"service": "a\" OR *"}', 'x | where service:="a\" OR *"'),
    ('x | count() by service', '{"service": null}', 'x | where -service:*'),
    ('x | count() by level, attrs.a', '{"level": "warn", "attrs.a": "1"}',
      'x | where level:warn attrs.a:="1"'),
    ('x | count() by service', jsonb_build_object('service', repeat('y', 3000))::text, null)
) c (query, of_group, expected);
select is(
  logloom_private.percent_encoded('a b:"ü"&#é|+%'), 'a%20b%3A%22%C3%BC%22%26%23%C3%A9%7C%2B%25',
  'a text is encoded for a URL'
);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
insert into logloom.log_views (tenant_id, name, query_dsl, hidden_fields, operations, created_by)
values ('acme', 'shop', 'service:shop', '{user_id,attrs.card}', '{list_alert_rules}', 'alice');
insert into logloom.logs (
  id, tenant_id, ts, received_at, write_seq, level, service, msg, user_id, attrs
)
select
  gen_random_uuid(), t.tenant_id, date_trunc('minute', now()) - interval '1 minute' * (i + 1),
  now(), 1, 'error', s.service, t.tenant_id || ' ' || s.service || i || repeat(' long', 200),
  'u-secret', '{"card": "c-secret"}'
from (values ('acme'), ('umbrella')) t (tenant_id)
cross join (values ('shop'), ('other')) s (service)
cross join generate_series(1, 4) i;
insert into logloom.alert_rules (
  rule_id, tenant_id, name, query_dsl, threshold, comparison, window_minutes, cooldown_minutes,
  enabled, notification_destinations, notification_config, view_id
)
select
  ('00000000-0000-4000-9000-00000000000' || i)::uuid, 'acme', 'r' || i,
  'level:error' || case i when 3 then ' | count() by service' else '' end, 3, 'gt', 10, 0, true,
  '{webhook}', '{"webhook_url": "https://example.com/hook"}',
  case i when 1 then v.view_id end
from generate_series(1, 3) i, logloom.log_views v;
create function pg_temp.message(p_rule integer, p_group jsonb default null)
returns jsonb
language plpgsql
as $$
declare
  v_data jsonb;
begin
  delete from logloom.alert_history;
  insert into logloom.alert_history (
    tenant_id, rule_id, value, threshold, window_start, window_end, "group", view_id
  )
  select
    'acme', r.rule_id, 4, 3, date_trunc('minute', now()) - interval '10 minutes',
    date_trunc('minute', now()), p_group, r.view_id
  from logloom.alert_rules r
  where r.name = 'r' || p_rule;
  perform pg_temp.act_as('service_role', '{"role": "service_role"}');
  select public.complete_alert_notification(c.notification_id, c.claim_id)::jsonb -> 'data'
  into v_data
  from public.claim_alert_notifications(1) c;
  perform pg_temp.act_as_postgres();
  return v_data;
end;
$$;
create temp table messages as select 1 as rule, pg_temp.message(1) as data;
insert into messages select 2, pg_temp.message(2);
insert into messages select 3, pg_temp.message(3, '{"service": "other"}');

select is(
  (select array_agg(left(l ->> 'msg', 10)) from messages m,
    jsonb_array_elements(m.data -> 'logs') l where m.rule = 1),
  '{"acme shop1","acme shop2","acme shop3"}', 'a message has the newest three records of the view'
);
select is(
  (select count(*)::integer from messages m where m.rule = 1 and m.data::text like '%secret%'), 0,
  'without what the view hides'
);
select is(
  (select count(*)::integer from messages m, jsonb_array_elements(m.data -> 'logs') l
    where m.rule = 2 and l ->> 'user_id' = 'u-secret'),
  3, 'a rule without a view shows them'
);
select is(
  (select max(length(l ->> 'msg')) from messages m, jsonb_array_elements(m.data -> 'logs') l), 500,
  'long texts are cut'
);
select is(
  (select array_agg(distinct l ->> 'service') from messages m,
    jsonb_array_elements(m.data -> 'logs') l where m.rule = 3),
  '{other}', 'a group has its own records'
);
select is(
  (select m.data -> 'url' from messages m where m.rule = 3), 'null',
  'without console_url there is no link'
);
update logloom_private.settings set console_url = 'https://logs.example/c.html';
select matches(
  pg_temp.message(3, '{"service": "other"}') ->> 'url',
  '^https://logs\.example/c\.html#q=level%3Aerror%20%7C%20where%20service%3A%3D%22other%22'
    '&from=20\d\d-\d\d-\d\dT\d\d%3A\d\d%3A00\.000Z&to=20\d\d-',
  'the link has query and range'
);
-- An alert of a rule for errors leads to the page of the error.
insert into logloom.error_groups (
  tenant_id, fingerprint, service, title, first_seen, last_seen, opened_at, is_regressed
)
values ('acme', 'f00d', 'shop', 'TypeError: x', now(), now(), now(), true);
insert into logloom.alert_rules (
  tenant_id, name, query_dsl, kind, threshold, comparison, window_minutes, cooldown_minutes,
  enabled, notification_destinations, notification_config
)
values ('acme', 'r4', '*', 'new_error', 0, 'gt', 1, 0, true, '{webhook}',
  '{"webhook_url": "https://example.com/hook"}');
select is(
  (
    select jsonb_build_array(m -> 'kind', m -> 'returned', m -> 'url', m -> 'logs')
    from pg_temp.message(4, '{"fingerprint": "f00d"}') m
  ),
  '["new_error", true, "https://logs.example/c.html#/errors?group=f00d", []]',
  'an error that came back'
);
select is(
  (
    select array_agg(n.notification_id)
    from logloom_private.notifications n
    where n.body like '% long long%'
  ),
  null, 'the records are not stored'
);
select pg_temp.act_as('service_role', '{"role": "service_role"}');
select is(
  public.complete_alert_notification(gen_random_uuid(), gen_random_uuid()), null,
  'without the claim there is no answer'
);
select throws_ok(
  'select public.complete_alert_notification()',
  'PT400', 'Missing required parameter: p_notification_id', 'a notification must be named'
);
select pg_temp.act_as_postgres();

select * from finish();
rollback;
