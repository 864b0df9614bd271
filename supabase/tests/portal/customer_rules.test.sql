-- Customers manage their own alert rules in a portal session: within it, and apart from each other.
begin;
\ir ../actors.psql
\ir ../alerts/rounds.psql
\ir sessions.psql
select plan(73);

-- Creates a rule in the session of a customer. Returns its name, or the error.
create function pg_temp.make(p_who text, p_name text, p_more jsonb default '{}')
returns text
language plpgsql
as $$
declare
  v_answer constant text := pg_temp.ask(p_who, 'create_alert_rule', jsonb_build_object(
    'p_name', p_name, 'p_query_dsl', '*', 'p_threshold', 0, 'p_comparison', 'gt',
    'p_window_minutes', 5, 'p_cooldown_minutes', 0, 'p_enabled', true
  ) || p_more);
begin
  perform pg_temp.act_as_postgres();
  -- As if it had been created before the day of the rounds.
  update logloom.alert_rules r set asked_at = '2026-03-01' where r.name = p_name;
  update logloom.log_views v set shows_since = '2026-03-01' where v.customer is not null;
  return case when v_answer like '{%' then v_answer::jsonb ->> 'name' else v_answer end;
end;
$$;

create function pg_temp.id_of(p_name text)
returns uuid
language sql
security definer
as $$ select r.rule_id from logloom.alert_rules r where r.name = p_name $$;

insert into logloom.tenant_members (tenant_id, user_id, role)
values
  ('acme', 'alice', 'owner'), ('acme', 'ann', 'admin'), ('acme', 'mel', 'member'),
  ('umbrella', 'olga', 'owner');
insert into logloom.log_views (tenant_id, name, query_dsl, hidden_fields, created_by, shows_since)
values ('acme', 'shop', 'level:error', '{attrs.secret}', 'alice', '2026-01-01');
select pg_temp.act_as_user('acme', 'ann');
insert into made
select m.who, s.*
from (
  values
    ('42', '42', '@customer:42', '{alerts}'::text[], null::jsonb),
    ('42 of today', '42', '@customer:42 ts:>now-10m', '{alerts,errors}', '{"rules": 5}'),
    ('43', '43', '@customer:43', '{alerts}', '{"rules": 1}'),
    ('42 without', '42', '@customer:42', '{search}', null)
) m (who, customer, query_dsl, parts, limits)
cross join lateral public.create_log_portal_session(
  p_parts => m.parts, p_customer => m.customer, p_query_dsl => m.query_dsl, p_limits => m.limits,
  p_view_id => (select v.view_id from public.list_log_views() v)
) s;
select pg_temp.act_as_user('umbrella', 'olga');
insert into made
select 'elsewhere', s.*
from public.create_log_portal_session(p_parts => '{alerts}', p_customer => '42') s;

-- What a session creates is bound to it.
select is(pg_temp.make(c.who, c.name, c.more), coalesce(c.message, c.name), c.who || c.more)
from (
  values
    ('42', 'all', '{}'::jsonb, null),
    ('42', 'or', '{"p_query_dsl": "msg:x OR *"}', null),
    ('42', 'by', '{"p_query_dsl": "* | count() by attrs.customer"}', null),
    ('42 of today', 'today', '{}', null),
    ('43', 'theirs', '{}', null),
    ('43', 'no', '{}', 'PT400 Your limit is reached: rules (max 1)'),
    ('42 without', 'no', '{}', 'PT403 This caller may not call create_alert_rule'),
    ('42', 'no', '{"p_query_dsl": "@secret:1"}', 'PT400 The field "@secret" is hidden from you'),
    ('42', 'no', '{"p_view_id": "00000000-0000-4000-9000-000000000001"}',
      'PT400 Portal sessions take no p_view_id'),
    ('42', 'no', '{"p_saved_search_id": "00000000-0000-4000-9000-000000000001"}',
      'PT400 Portal sessions take no p_saved_search_id'),
    ('42', 'no', '{"p_kind": "new_error"}', 'PT400 Portal sessions take no p_kind new_error'),
    ('42', 'no', '{"p_tenant_id": "umbrella"}', 'PT403 p_tenant_id is not the tenant of the token')
) c (who, name, more, message);

-- A rule counts only records of its session, and "now" is the end of the window.
select pg_temp.arrive('11:58', 'e 42', '{"customer": 42, "secret": 1}', 'error', 'acme', 2);
select pg_temp.arrive('11:58', 'i 42', '{"customer": 42}', 'info');
select pg_temp.arrive('11:58', 'e 43', '{"customer": 43}', 'error', 'acme', 5);
select pg_temp.arrive('11:58', 'e', '{"customer": 42}', 'error', 'umbrella', 7);
select is(pg_temp.round('12:00'), 5, 'five rules fire');
select results_eq(
  'select unnest(pg_temp.fired())',
  $$values ('12:00 all 2'::text), ('12:00 by 2'), ('12:00 or 2'), ('12:00 theirs 5'),
    ('12:00 today 2')$$,
  'each with the records of its session'
);
update logloom.alert_rules set window_minutes = 30 where name = 'today';
select pg_temp.arrive('12:09:30', 'e 42', '{"customer": 42}', 'error');
select is(
  (select max(f) from pg_temp.round('12:10') r cross join unnest(pg_temp.fired('today')) f),
  '12:10 1', 'now moves with the windows, and old records drop out'
);

-- A customer sees and changes only own rules, also those of other sessions.
select is(pg_temp.members(pg_temp.ask(w.who, w.operation), w.member), w.found, w.who || w.operation)
from (
  values
    ('42', 'list_alert_rules', 'name', 'all, by, or, today'),
    ('42 of today', 'list_alert_rules', 'name', 'all, by, or, today'),
    ('43', 'list_alert_rules', 'name', 'theirs'),
    ('elsewhere', 'list_alert_rules', 'name', 'nothing'),
    ('43', 'list_alert_incidents', 'rule_name', 'theirs'),
    ('43', 'list_alert_history', 'value', '5, 5, 5, 5'),
    ('elsewhere', 'list_alert_history', 'value', 'nothing')
) w (who, operation, member, found);
select is(
  r -> 'view_id' || jsonb_build_array(r -> 'customer', r -> 'last_value'), '[null, "42", 1]',
  'a rule without the view'
)
from cast(pg_temp.ask(
  '42', 'get_alert_rule', jsonb_build_object('p_rule_id', pg_temp.id_of('all'))
) as jsonb) r;
create temp table ids as
select h.incident_id as incident, h.alert_id as alert
from logloom.alert_history h
where h.rule_id = pg_temp.id_of('all')
order by h.triggered_at
limit 1;
grant all on ids to public;
select is(
  pg_temp.ask(w.who, c.operation, c.parameters), c.message, w.who || ' ' || c.operation
)
from (values ('43'), ('elsewhere')) w (who)
cross join ids i
cross join lateral (
  select o.operation, jsonb_build_object('p_rule_id', pg_temp.id_of('all')) as parameters,
    'PT404 Alert rule not found' as message
  from unnest('{get_alert_rule,update_alert_rule,delete_alert_rule,test_alert_rule,
    preview_alert_rule,rotate_alert_webhook_secret}'::text[]) o (operation)
  union all
  values
    ('get_alert_incident', jsonb_build_object('p_incident_id', i.incident),
      'PT404 Incident not found'),
    ('acknowledge_alert', jsonb_build_object('p_alert_id', i.alert), 'PT404 Alert not found'),
    ('update_alert_incident',
      jsonb_build_object('p_incident_ids', array[i.incident], 'p_acknowledged', true),
      'PT404 Incident not found')
) c;
-- They acknowledge their incidents. The people of the host stay unknown to them.
select pg_temp.act_as_user('acme', 'mel');
select public.update_alert_incident(array[i.incident], p_note => 'call them')
from ids i \g /dev/null
select is(
  pg_temp.ask('42', 'update_alert_incident', jsonb_build_object(
    'p_incident_ids', array[i.incident], 'p_acknowledged', true
  )),
  '{"success":true}', 'a customer acknowledges an incident'
) from ids i;
select is(
  (
    select jsonb_build_array(d -> 'state', d -> 'note', d -> 'noted_by', d -> 'acknowledged_by',
      d #> '{alerts,0,acknowledged_by}')
    from ids i,
      cast(pg_temp.ask('42', 'get_alert_incident', jsonb_build_object(
        'p_incident_id', i.incident
      )) as jsonb) d
  ),
  '["resolved", null, null, null, null]', 'an incident without people and notes'
);
select pg_temp.act_as_user('acme', 'mel');
select is(
  (
    select d.acknowledged_by || ' ' || d.note
    from ids i cross join lateral public.get_alert_incident(i.incident) d
  ),
  (select 'portal ' || m.session_id || ' call them' from made m where m.who = '42'),
  'the host sees who it was'
);

select is(
  pg_temp.ask('42 of today', 'preview_alert_rule', '{"p_query_dsl": "*", "p_threshold": 0,
    "p_comparison": "gt", "p_window_minutes": 5}'),
  'PT400 No preview for a query that uses "now"', 'no preview in a session that names now'
);

-- A session that sees less does not change what others made.
select is(
  pg_temp.ask(
    '42 of today', c.operation, jsonb_build_object('p_rule_id', pg_temp.id_of('all')) || c.more
  ),
  'PT403 This alert rule was made in a session with other limits', c.operation || c.more
)
from (
  values
    ('update_alert_rule', '{"p_threshold": 1}'::jsonb), ('test_alert_rule', '{}'),
    ('update_alert_rule', '{"p_enabled": true}'), ('rotate_alert_webhook_secret', '{}')
) c (operation, more);
select pg_temp.ask('42', 'update_alert_rule',
  jsonb_build_object('p_rule_id', pg_temp.id_of('all'), 'p_name', 'all')) \g /dev/null
select pg_temp.act_as_user('acme', 'alice');
insert into made
select 'seven', s.*
from public.create_log_portal_session(p_parts => '{alerts}', p_customer => '42',
  p_query_dsl => '@user:7') s;
select pg_temp.act_as_postgres();
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq, level, msg, attrs)
select
  gen_random_uuid(), 'acme', now() - interval '5 minutes', now(),
  nextval('logloom_private.write_seq'), r.level, 'm', r.attrs
from (
  values
    ('error', '{"customer": 42, "user": 7}'::jsonb), ('error', '{"customer": 42, "user": 8}'),
    ('info', '{"customer": 42, "user": 7}'), ('error', '{"customer": 43, "user": 7}')
) r (level, attrs);
select is(
  pg_temp.members(pg_temp.ask('seven', 'preview_alert_rule', jsonb_build_object(
    'p_rule_id', pg_temp.id_of('all'), 'p_cooldown_minutes', 10080
  ))::jsonb ->> 'alerts', 'value'), '1', 'a preview keeps to the session and to the rule'
);

-- The host sees, stops and deletes them.
select pg_temp.act_as_user('acme', 'mel');
select is(
  (select string_agg(r.name || ' ' || r.customer, ', ' order by r.name)
    from public.list_alert_rules() r),
  'all 42, by 42, or 42, theirs 43, today 42', 'the host lists rules of customers'
);
select is(
  pg_temp.attempt(format('select public.update_alert_rule(%L, %L)', pg_temp.id_of('all'), 'x')),
  'PT403 This requires the role admin', 'a member does not change them'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.attempt(format('select public.update_alert_rule(%L, %L)', pg_temp.id_of('all'), 'x')),
  'PT403 This alert rule belongs to a customer', 'an admin only stops them'
);
select is(
  (public.update_alert_rule(pg_temp.id_of('all'), p_enabled => false)).held_at, now(), 'held'
);
select is(
  pg_temp.ask('42', c.operation, jsonb_build_object('p_rule_id', pg_temp.id_of('all')) || c.more),
  'PT403 Your provider has stopped this alert rule', c.operation || c.more
)
from (
  values
    ('update_alert_rule', '{"p_enabled": true}'::jsonb), ('test_alert_rule', '{}'),
    ('delete_alert_rule', '{}')
) c (operation, more);
select is(
  pg_temp.make('42 of today', 'new'), 'PT403 Your provider has stopped another alert rule of yours',
  'nor does another rule take its place'
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (public.update_alert_rule(pg_temp.id_of('all'), p_enabled => true)).held_at, null, 'and let go'
);

-- If the view changes, incidents end, and the message has no values. The next alert opens another.
select pg_temp.act_as_postgres();
update logloom.alert_rules r
set notification_destinations = '{webhook}', notify_on_recovery = true,
  notification_config = '{"webhook_url": "https://example.com/"}'
where r.name = 'or';
update logloom.alert_history h set notification_channels = '{webhook}';
select pg_temp.act_as_user('acme', 'alice');
select public.update_log_view(v.view_id, p_query_dsl => 'level:(error OR warn)')
from public.list_log_views() v \g /dev/null
select pg_temp.act_as_postgres();
select is(
  jsonb_build_array(
    d -> 'name', d -> 'resolution', d -> 'value', d -> 'peak_value', d #> '{alerts,0,value}'
  ),
  '["or", "rule_changed", null, null, null]', 'a receiver hears that it is over'
)
from public.claim_alert_notifications(9) c
cross join lateral jsonb_extract_path(c.body::jsonb, 'data') d
where c.body::jsonb ->> 'type' = 'alert.resolved';
update logloom.log_views v set shows_since = pg_temp.at('12:10:30');
update logloom.alert_rules r set asked_at = pg_temp.at('12:10:30');
select pg_temp.arrive('12:11:30', 'e 42', '{"customer": 42}', 'error');
select pg_temp.round('12:12') \g /dev/null
select is(
  pg_temp.members(
    pg_temp.ask('42', 'list_alert_incidents', '{"p_state": "unresolved"}'), 'rule_name'
  ),
  'all, by, or, today', 'their customer sees the new incidents'
);
select pg_temp.act_as_postgres();
select pg_temp.round('12:17') \g /dev/null
delete from logloom_private.notifications;

-- Rules rest when the user who created their session is no longer an admin.
select pg_temp.act_as_postgres();
delete from logloom.tenant_members where user_id = 'ann';
select is(
  (select count(*)::integer from logloom.alert_rules r where r.enabled), 1, 'they pause at once'
);
select is(pg_temp.round('12:20'), 0, 'nothing fires');
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select t.name, t.state, t.maker from public.list_portal_things(p_customer => '42') t
    order by 1$$,
  $$values ('all', 'enabled', 'alice'), ('by', 'paused', 'ann'), ('or', 'paused', 'ann'),
    ('today', 'paused', 'ann')$$,
  'all but the one that an admin enabled are paused'
);
select pg_temp.act_as_postgres();
select is(
  (select r.last_error from logloom.alert_rules r where r.name = 'or'),
  'Paused: the user who allowed it is no longer an admin', 'and say why'
);
select results_eq(
  $$select e.action, e.actor like 'portal %', e.details ->> 'customer', count(*)::integer
    from logloom.audit_events e where e.action ~ '^alert_(rule|incident)' group by 1, 2, 3
    order by 1, 2, 3$$,
  $$values
    ('alert_incident.changed', false, '42', 1), ('alert_incident.changed', true, '42', 1),
    ('alert_rule.changed', false, '42', 2), ('alert_rule.created', true, '42', 4),
    ('alert_rule.created', true, '43', 1), ('alert_rule.paused', false, '42', 3),
    ('alert_rule.paused', false, '43', 1)$$,
  'the audit log names sessions and customers'
);
select is(
  pg_temp.ask('seven', c.operation, jsonb_build_object('p_rule_id', pg_temp.id_of('or')) || c.more)
    ~ c.answer, true, c.operation || c.more
)
from (
  values
    ('update_alert_rule', '{"p_enabled": false}'::jsonb, '"paused_at":"'),
    ('update_alert_rule', '{"p_enabled": true}', '^PT403 Your provider has stopped'),
    ('delete_alert_rule', '{}', '"success":true')
) c (operation, more, answer);
select is(pg_temp.make('seven', 'new'), 'new', 'another rule can take its place');
select pg_temp.act_as_postgres();
update logloom.log_views v set query_dsl = '((' where v.name = 'shop';
select is(
  pg_temp.attempt(format('select logloom_private.compile_rule(''acme'', ''*'', %L)', r.view_id)),
  'PT403 The query of this session is no longer valid', 'no error names the view'
)
from logloom.alert_rules r
where r.name = 'all';
insert into logloom_private.notification_addresses (tenant_id, customer, mailbox, confirmed_at)
select 'acme', c, 'a@example.com', now() from unnest('{42,43}'::text[]) c;
insert into logloom_private.notifications (
  tenant_id, customer, rule_id, channel, address, body, expires_at
)
select 'acme', c, pg_temp.id_of('all'), 'webhook', 'https://example.com/', '{}', now() + '1 day'
from unnest('{42,43}'::text[]) c;
select pg_temp.act_as_user('acme', 'alice');
select is(
  public.revoke_portal_customer(p_customer => '42')::text, '(1,0,4)', 'the customer is revoked'
);
select pg_temp.act_as_postgres();
select results_eq(
  $$select n.customer, n.status, n.last_error, a.mailbox
    from logloom_private.notifications n
    left join logloom_private.notification_addresses a on a.customer = n.customer order by 1$$,
  $$values ('42', 'failed', 'The customer was revoked', null),
    ('43', 'pending', null, 'a@example.com')$$,
  'with messages and addresses'
);

select * from finish();
rollback;
