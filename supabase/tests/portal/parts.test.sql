-- A session calls the operations of its parts and no others, and sees its own customer alone.
begin;
\ir ../actors.psql
\ir ../search/records.psql
\ir sessions.psql
select plan(49);

-- Returns the actions of the audit events that a session finds, or its error.
create function pg_temp.trail(p_who text, p_parameters jsonb default '{}')
returns text
language sql
as $$
  select pg_temp.members(pg_temp.ask(p_who, 'list_audit_events', p_parameters), 'action')
$$;

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('other', 'pro');
insert into logloom.usage_days (tenant_id, day, events, bytes)
values
  ('acme', (now() at time zone 'UTC')::date, 300, 6000),
  ('other', (now() at time zone 'UTC')::date, 7, 7);
insert into logloom_private.usage_services (tenant_id, day, service, events, record_bytes)
select u.tenant_id, u.day, 'of ' || u.tenant_id, u.events, u.bytes from logloom.usage_days u;
insert into logloom.audit_events (event_id, tenant_id, source, actor, action, subject, targets)
values
  ('018f0000-0000-7000-8000-00000000000a', 'acme', 'app', '42', 'by.42', '', '[]'),
  ('018f0000-0000-7000-8000-00000000000b', 'acme', 'app', 'ann', 'on.42', '',
    '[{"type": "shop", "id": "1"}, {"type": "customer", "id": "42"}]'),
  ('018f0000-0000-7000-8000-00000000000c', 'acme', 'app', '43', 'by.43', '42', '[]'),
  ('018f0000-0000-7000-8000-00000000000d', 'acme', 'app', 'ann', 'on.43', '',
    '[{"type": "customer", "id": "43"}, {"type": "invoices", "id": "42"}]'),
  ('018f0000-0000-7000-8000-00000000000e', 'acme', 'logloom', '42', 'api_key.created', '42', '[]'),
  ('018f0000-0000-7000-8000-00000000000f', 'other', 'app', '42', 'elsewhere', '', '[]');
select pg_temp.add_records('[
  {"ago": "3 minutes", "level": "error", "service": "shop", "msg": "declined of 42",
    "attrs": {"customer": 42}},
  {"ago": "2 minutes", "level": "error", "service": "shop", "msg": "refused of 43",
    "attrs": {"customer": 43}}
]');

-- Dashboards of two users, and one of another tenant.
select pg_temp.act_as_user('acme', 'alice');
create temp table boards as
select b.name, d.dashboard_id
from (
  values
    ('shown', true, true), ('not shared', false, true), ('not marked', true, false)
) b (name, is_shared, in_portal)
cross join lateral public.create_log_dashboard(
  p_name => b.name, p_is_shared => b.is_shared, p_in_portal => b.in_portal,
  p_panels => '[{"title": "n", "query_dsl": "@customer:$customer | count()", "kind": "number"}]'
) d;
select pg_temp.act_as_user('other', 'olga');
insert into boards
select d.name, d.dashboard_id from public.create_log_dashboard('theirs', '[]', true, true) d;
grant all on boards to public;
select pg_temp.act_as_postgres();

create temp table parts as select p.part from logloom_private.portal_parts() p;
grant all on parts to public;

select pg_temp.act_as_user('acme', 'alice');
insert into made
select p.part, s.*
from parts p
cross join lateral public.create_log_portal_session(
  p_parts => array[p.part], p_customer => '42',
  p_query_dsl => case when p.part <> 'usage' then '@customer:42' end,
  p_limits => case when p.part = 'usage' then '{"monthly_events": 1000}'::jsonb end,
  p_variables => case when p.part = 'dashboards' then '{"customer": "42"}'::jsonb end
) s
union all
select 'none', s.* from public.create_log_portal_session(p_customer => '42') s
union all
select 'two', s.*
from public.create_log_portal_session(p_parts => '{errors,audit}', p_customer => '43') s
union all
select 'in view', s.*
from public.create_log_portal_session(
  p_parts => '{search,audit}', p_customer => '42',
  p_view_id => (public.create_log_view(
    p_name => 'less', p_operations => '{search_logs,export_logs}'
  )).view_id
) s;

-- The matrix: each operation, with each part.
select pg_temp.act_as_service_role();
create temp table called as
select m.who, o.operation, pg_temp.ask(m.who, o.operation) as answer
from made m cross join unnest(logloom_private.operations()) o (operation);
grant all on called to public;
select is(
  (
    select string_agg(c.operation, ',' order by c.operation)
    from called c
    where c.who = w.who and c.answer !~ '^PT403|^PT404 No such reading operation'
  ),
  w.operations, w.who || ': its operations are open, all others are refused'
)
from (
  values
    ('search', 'get_log,get_log_context,list_log_fields,log_changes,log_histogram,log_overview,'
      'log_series,log_stats,search_logs,tail_logs,validate_query'),
    ('exports', 'export_logs,search_logs,validate_query'),
    ('errors', 'get_error_group,list_error_groups,validate_query'),
    ('audit', 'list_audit_events,validate_query'),
    ('dashboards', 'get_log_dashboard,list_log_dashboards,list_log_fields,log_series,log_stats,'
      'validate_query'),
    ('streams', 'create_log_stream,delete_log_stream,get_log_stream,list_log_stream_failures,'
      'list_log_streams,test_log_stream,update_log_stream,validate_query'),
    ('alerts', 'acknowledge_alert,confirm_alert_address,create_alert_rule,delete_alert_rule,'
      'get_alert_incident,get_alert_rule,list_alert_addresses,list_alert_history,'
      'list_alert_incidents,list_alert_rules,preview_alert_rule,rotate_alert_webhook_secret,'
      'test_alert_rule,update_alert_incident,update_alert_rule,validate_query'),
    ('usage', 'get_tenant_usage,validate_query'),
    ('none', 'export_logs,get_log,get_log_context,list_log_fields,log_changes,log_histogram,'
      'log_overview,log_series,log_stats,search_logs,tail_logs,validate_query'),
    ('two', 'get_error_group,list_audit_events,list_error_groups,validate_query'),
    ('in view', 'list_audit_events,search_logs')
) w (who, operations);
select is(
  array(
    select c.operation
    from called c
    where c.answer like 'PT404 No such reading operation%'
    except
    select o.operation
    from logloom_private.operation_list() o
    where o.reader is null
  ),
  '{}'::text[], 'only operations that change something or that only users call do not exist'
);

-- The audit part shows what was done to the customer, and nothing of others with the same id.
select is(pg_temp.trail('audit'), 'on.42', 'a customer''s audit events');
select is(pg_temp.trail('two'), 'on.43', 'another customer''s');
select is(pg_temp.trail('audit', f.filter), f.found, f.filter::text)
from (
  values
    ('{"p_actor": "43"}'::jsonb, 'nothing'),
    ('{"p_target": "43"}', 'nothing'),
    ('{"p_source": "logloom"}', 'nothing'),
    ('{"p_action": "on.*"}', 'on.42')
) f (filter, found);
select matches(
  pg_temp.trail('audit', jsonb_build_object('p_after', f.id)), '^PT400 ',
  'a page cannot begin at a foreign event: ' || f.id
)
from unnest('{018f0000-0000-7000-8000-00000000000c,018f0000-0000-7000-8000-00000000000e,
  018f0000-0000-7000-8000-00000000000f}'::text[]) f (id);
select matches(
  pg_temp.trail('audit', '{"p_tenant_id": "other"}'), '^PT403 ', 'nor another tenant''s events'
);

-- The usage part shows the tenant's own counts against the host's limits.
select is(
  pg_temp.ask('usage', 'get_tenant_usage', '{"p_services": 9}')::jsonb - 'month' - 'months'
    - 'days' - 'resets_at' - 'projected_events' - 'projected_bytes' #- '{services,0,day}',
  '{
    "tenant_id": "acme", "events": 300, "bytes": 6000, "monthly_events_limit": 1000,
    "monthly_bytes_limit": null, "events_percent": 30.00, "bytes_percent": null, "stored": null,
    "restored_records": null, "dropped": null, "rules": [],
    "services": [{"service": "of acme", "events": 300, "record_bytes": 6000}], "spans": null
  }',
  'usage without the plan''s limits, disk space and rules'
);
select matches(
  pg_temp.ask('usage', 'get_tenant_usage', '{"p_tenant_id": "other"}'), '^PT403 ',
  'another tenant''s usage is refused'
);

-- The errors part makes groups of the session's own records.
select is(
  pg_temp.members(pg_temp.ask('errors', 'list_error_groups'), 'title'),
  'declined of <*>', 'errors within the session''s query'
);
select is(pg_temp.ask('errors', 'list_error_groups', r.range), r.answer, r.range::text)
from (
  values
    ('{"p_ts_from": "now+1h"}'::jsonb, 'PT400 Invalid range: p_ts_from must be before p_ts_to'),
    ('{"p_ts_to": "now-2d"}', '[]')
) r (range, answer);

-- The dashboards part has shared ones with the mark, and the host's variables.
select is(
  pg_temp.ask('dashboards', 'list_log_dashboards')::jsonb #- '{0,created_at}' #- '{0,updated_at}',
  jsonb_build_array(jsonb_build_object(
    'dashboard_id', b.dashboard_id, 'tenant_id', 'acme', 'name', 'shown', 'is_shared', true,
    'created_by', null, 'in_portal', true, 'variables', '{"customer": "42"}'::jsonb,
    'panels', '[{"title": "n", "query_dsl": "@customer:$customer | count()", "kind": "number",
      "width": 6}]'::jsonb
  )),
  'marked shared dashboards, without their creator'
)
from boards b where b.name = 'shown';
select is(
  pg_temp.ask(
    'dashboards', 'get_log_dashboard', jsonb_build_object('p_dashboard_id', b.dashboard_id)
  ) like case b.name when 'shown' then format('{"dashboard_id":"%s",%%', b.dashboard_id)
    else 'PT404 Dashboard not found' end,
  true, b.name
)
from boards b;
select matches(
  pg_temp.ask('dashboards', 'list_log_dashboards', jsonb_build_object('p_after', b.dashboard_id)),
  '^PT400 ', 'a page cannot begin at a hidden dashboard'
)
from boards b where b.name = 'not marked';
select is(
  pg_temp.ask('dashboards', 'log_stats', '{"p_query_dsl": "* | count()"}')::jsonb #>> '{0,value}',
  '1', 'a panel counts the session''s records'
);

-- Two sessions of a tenant are listed with their parts.
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select row(s.parts, s.customer, s.limits)::text
    from public.list_log_portal_sessions() s
    join made m on m.session_id = s.session_id
    where m.who = 'usage'
  ),
  '({usage},42,"{""monthly_events"": 1000}")', 'the list has parts, customer and limits'
);
select is(
  (
    select a.details - 'expires_at'
    from public.list_tenant_audit_events() a
    join made m on m.session_id::text = a.subject
    where m.who = 'usage' and a.action = 'portal_session.created'
  ),
  '{"parts": ["usage"], "customer": "42", "limits": {"monthly_events": 1000}}',
  'and so has the audit log'
);

select throws_ok(
  'select public.create_log_portal_session(' || p || ')', 'PT400', c.message, p
)
from (
  values
    ('Invalid p_parts: some of ' || (select string_agg(p.part, ', ') from parts p), array[
      'p_parts => ''{}''', 'p_parts => ''{search,keys}'', p_customer => ''42''',
      'p_parts => ''{null}''::text[], p_customer => ''42'''
    ]),
    ('p_parts beyond search and exports need p_customer', array['p_parts => ''{errors}''']),
    ('Invalid p_customer: 1 to 255 characters, not all blank',
      array['p_customer => repeat(''x'', 256)']),
    ('The part usage counts the whole tenant: leave out p_view_id and p_query_dsl',
      array['p_parts => ''{usage}'', p_customer => ''42'', p_query_dsl => ''@customer:42''']),
    ('Invalid p_limits: monthly_events, monthly_bytes, streams, rules: whole numbers 1 to 10^15',
      array['p_limits => ''{"monthly_events": 0}''', 'p_limits => ''{"keys": 2}''',
        'p_limits => ''[1]''']),
    ('Invalid p_variables: at most 20 names with texts of at most 200 characters',
      array['p_variables => ''{"a-b": "c"}''', 'p_variables => ''{"a": 1}'''])
) c (message, parameters)
cross join unnest(c.parameters) p;
select is(
  pg_temp.attempt($$select public.create_log_portal_session(p_parts => '{search}')$$),
  'accepted', 'search alone needs no customer'
);

select throws_ok(
  'select public.list_portal_things(p_customer => '''')', 'PT400',
  'Invalid p_customer: 1 to 255 characters, not all blank', 'a list for no customer'
);

select * from finish();
rollback;
