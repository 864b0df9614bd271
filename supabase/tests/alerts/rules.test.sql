begin;
\ir ../actors.psql
select plan(76);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'enterprise');
select pg_temp.act_as_user('acme', 'alice');

create temp table created as
select r.*
from public.create_alert_rule(
  p_name => ' errors ', p_description => 'Too many', p_query_dsl => 'level:error | rate()',
  p_threshold => 1.5, p_comparison => 'gte', p_window_minutes => 1440, p_cooldown_minutes => 0,
  p_enabled => true, p_notification_destinations => '{webhook,email,webhook}',
  p_notification_config => '{
    "email": "ops@example.com", "webhook_url": "https://example.com/hook?a=b", "note": ["x"]
  }'
) r;
grant select on created to public;

select is(
  to_jsonb(r) - '{rule_id,created_at,updated_at,view_id,customer,held_at,paused_at}'::text[],
  '{
    "tenant_id": "acme", "name": "errors", "description": "Too many",
    "query_dsl": "level:error | rate()", "threshold": 1.5, "comparison": "gte",
    "window_minutes": 1440, "cooldown_minutes": 0, "enabled": true,
    "notification_destinations": ["webhook", "email"],
    "notification_config": {
      "email": "ops@example.com", "webhook_url": "https://example.com/hook?a=b", "note": ["x"]
    },
    "last_evaluated_at": null, "last_value": null, "last_error": null,
    "notify_on_recovery": false, "for_minutes": 0, "on_absent": "ignore", "kind": "query",
    "group_wait_seconds": 0,
    "notification_secrets": {}, "late_seconds": 0, "baseline": null
  }',
  'create_alert_rule returns the rule'
)
from created r;
select is(to_jsonb(r), to_jsonb(c), 'get_alert_rule returns the same')
from created c, public.get_alert_rule(c.rule_id) r;
select is(to_jsonb(r), to_jsonb(c), 'so does list_alert_rules')
from created c, public.list_alert_rules() r;
select is(
  to_jsonb(r) - '{rule_id,created_at,updated_at,view_id,customer,held_at,paused_at}'::text[],
  '{
    "tenant_id": "acme", "name": "n", "description": null, "query_dsl": "ts:*", "threshold": -1e300,
    "comparison": "neq", "window_minutes": 1, "cooldown_minutes": 10080, "enabled": false,
    "notification_destinations": [], "notification_config": {},
    "last_evaluated_at": null, "last_value": null, "last_error": null,
    "notify_on_recovery": false, "for_minutes": 0, "on_absent": "ignore", "kind": "query",
    "group_wait_seconds": 0,
    "notification_secrets": {}, "late_seconds": 0, "baseline": null
  }',
  'what is left out has its default'
)
from public.create_alert_rule(
  'acme', 'n', null, 'ts:*', -1e300, 'neq', 1, 10080, false, null, 'null'
) r;
select is(r.comparison::text, c, 'comparison ' || c)
from created, unnest('{gt,gte,lt,lte,eq,neq}'::text[]) c,
  public.update_alert_rule(created.rule_id, p_comparison => c) r;
select is(r.enabled, false, 'a disabled rule needs no addresses')
from created c,
  public.update_alert_rule(c.rule_id, p_enabled => false, p_notification_config => '{}') r;

create temp table defaults (name text, value text);
insert into defaults
values
  ('p_name', $$'n'$$), ('p_query_dsl', $$'ts:*'$$), ('p_threshold', '1'),
  ('p_comparison', $$'gt'$$), ('p_window_minutes', '5'), ('p_cooldown_minutes', '5'),
  ('p_enabled', 'true');

create function pg_temp.create_with(p_name text, p_value text)
returns text
language sql
as $$
  select pg_temp.attempt(
    format(
      'select public.create_alert_rule(%s)',
      (
        select string_agg(n.name || ' => ' || n.value, ', ')
        from (
          select d.name, d.value from defaults d where d.name <> p_name
          union all
          select p_name, p_value where p_value is not null
        ) n
      )
    )
  )
$$;

select pg_temp.act_as_postgres();
grant select on defaults to public;
select pg_temp.act_as_user('acme', 'alice');

select is(
  pg_temp.create_with(d.name, null), 'PT400 Missing required parameter: ' || d.name,
  'required: ' || d.name
)
from defaults d;

create temp table wrong (name text, value text, message text);
insert into wrong
values
  ('p_name', $$' '$$, 'p_name: 1 to 200 characters after trimming'),
  ('p_name', $$repeat('n', 201)$$, 'p_name: 1 to 200 characters after trimming'),
  ('p_description', $$repeat('d', 2001)$$, 'p_description: at most 2000 characters'),
  ('p_query_dsl', $$' '$$, 'p_query_dsl: it is blank'),
  ('p_query_dsl', $$'ts:* | count() by (1m)'$$,
    'p_query_dsl: an alert rule takes a filter, aggregates and math, and no other stage'),
  ('p_threshold', $$'NaN'$$, 'p_threshold: a finite number'),
  ('p_threshold', $$'Infinity'$$, 'p_threshold: a finite number'),
  ('p_threshold', $$'-Infinity'$$, 'p_threshold: a finite number'),
  ('p_comparison', $$'>'$$, 'p_comparison: one of gt, gte, lt, lte, eq, neq'),
  ('p_comparison', $$''$$, 'p_comparison: one of gt, gte, lt, lte, eq, neq'),
  ('p_comparison', $$'GT'$$, 'p_comparison: one of gt, gte, lt, lte, eq, neq'),
  ('p_window_minutes', '0', 'p_window_minutes: 1 to 1440'),
  ('p_window_minutes', '1441', 'p_window_minutes: 1 to 1440'),
  ('p_cooldown_minutes', '-1', 'p_cooldown_minutes: 0 to 10080'),
  ('p_cooldown_minutes', '10081', 'p_cooldown_minutes: 0 to 10080'),
  ('p_notification_destinations', $$'{pager}'$$,
    'p_notification_destinations: any of email, webhook, slack, discord, teams, pagerduty'),
  ('p_notification_destinations', $$array[null]::text[]$$,
    'p_notification_destinations: any of email, webhook, slack, discord, teams, pagerduty'),
  ('p_notification_destinations', $$'{email}'$$,
    'p_notification_config: an enabled rule needs the address of each destination'),
  ('p_notification_destinations', $$'{webhook}'$$,
    'p_notification_config: an enabled rule needs the address of each destination'),
  ('p_notification_config', $$'[]'$$, 'p_notification_config: an object of at most 8192 bytes'),
  ('p_notification_config', $$jsonb_build_object('x', repeat('x', 8192))$$,
    'p_notification_config: an object of at most 8192 bytes');
insert into wrong
select 'p_notification_config', quote_literal(jsonb_build_object('email', a)),
  'p_notification_config: email is not an email address'
from unnest(
  array[
    '', 'ops', '@example.com', 'ops@', 'ops@localhost', 'ops@example.com, x@example.com',
    'Ops <ops@example.com>', E'ops@example.com\r\nbcc: x@example.com', 'ops @example.com',
    'ops@exa mple.com', 'ops@-example.com', 'ops@example..com', 'a@b@example.com',
    repeat('o', 65) || '@example.com'
  ]
) a;
insert into wrong
select 'p_notification_config', quote_literal(jsonb_build_object('webhook_url', a)),
  'p_notification_config: webhook_url is not an https URL'
from unnest(
  array[
    '', 'example.com', 'http://example.com/', 'ftp://example.com/', 'https://',
    'https:///path', 'https://user:secret@example.com/', 'https://example.com\@evil.com',
    'https://exam ple.com/', E'https://example.com/\r\nx: y', 'javascript:alert(1)',
    'http://127.0.0.1.example.com/', 'http://127.0.0.1@example.com/',
    'https://example.com/' || repeat('x', 2048)
  ]
) a;

select is(
  pg_temp.create_with(w.name, w.value), 'PT400 Invalid ' || w.message,
  left(format('refused: %s %s', w.name, w.value), 120)
)
from wrong w;
select is(
  pg_temp.create_with('p_notification_config', quote_literal(c)), 'accepted', 'accepted: ' || c
)
from unnest(
  array[
    '{"email": "First.Last+tag@sub.example.co.uk"}', '{"webhook_url": "https://[2001:db8::1]/x"}',
    '{"webhook_url": "http://127.0.0.1:9000/hook"}', '{"email": null, "webhook_url": null}'
  ]
) c;

select is(
  pg_temp.attempt(format('select public.update_alert_rule(%L, p_enabled => true)', c.rule_id)),
  'PT400 Invalid p_notification_config: an enabled rule needs the address of each destination',
  'update: the changed rule as a whole must be valid'
)
from created c;
select is(
  to_jsonb(r) - '{rule_id,created_at,updated_at,view_id,customer,held_at,paused_at}'::text[],
  '{
    "tenant_id": "acme", "name": "new", "description": null, "query_dsl": "level:warn",
    "threshold": 7, "comparison": "lt", "window_minutes": 2, "cooldown_minutes": 3,
    "enabled": true, "notification_destinations": ["email"],
    "notification_config": {"email": "a@example.com"},
    "last_evaluated_at": null, "last_value": null, "last_error": null,
    "notify_on_recovery": false, "for_minutes": 0, "on_absent": "ignore", "kind": "query",
    "group_wait_seconds": 0,
    "notification_secrets": {}, "late_seconds": 0, "baseline": null
  }',
  'update: everything at once'
)
from created c,
  public.update_alert_rule(
    c.rule_id, ' new ', '', 'level:warn', 7, 'lt', 2, 3, true, '{email}',
    '{"email": "a@example.com"}'
  ) r;
select is(to_jsonb(r), to_jsonb(b), 'update: a rule must be named')
from created c, public.get_alert_rule(c.rule_id) b, public.update_alert_rule(c.rule_id) r;
select is(r.notification_destinations, '{}', 'update: no destinations')
from created c, public.update_alert_rule(c.rule_id, p_notification_destinations => '{}') r;

select pg_temp.act_as_user('acme', 'bob');
select is(to_jsonb(d), '{"success": true}', 'delete: any user of the tenant may')
from created c, public.delete_alert_rule(c.rule_id) d;

select * from finish();
rollback;
