-- An incident is open from the first alert until a window in which the condition no longer holds.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir rounds.psql
select plan(68);

-- Lists the incidents of a rule, oldest first. Each has: group, when it opened, how often it fired,
-- its last and its farthest value, until when the condition held, how the incident ended, and when
-- the condition no longer held. Times are ends of windows.
create function pg_temp.incidents(p_name text)
returns text[]
language sql
return array(
  select concat_ws(
    ' ', i."group" ->> 'level', to_char(i.opened_at at time zone 'UTC', 'HH24:MI'),
    i.fired_count || 'x', i.value, i.peak_value,
    to_char(i.held_until at time zone 'UTC', 'HH24:MI'),
    coalesce(i.resolution, 'open'), to_char(i.quiet_from at time zone 'UTC', 'HH24:MI')
  )
  from logloom.alert_incidents i
  where i.rule_name = p_name
  order by i.opened_at, i."group" ->> 'level' collate "C", i.held_until
);

-- Windows have one minute, so that each record is in exactly one window.
select pg_temp.rule('ts:* host:none', 'gt', 1, 1, 0, 'empty') \g /dev/null
select pg_temp.rule('wanted', 'gt', 1, 1, 0, 'plain') \g /dev/null
select pg_temp.rule('wanted', 'gt', 1, 1, 5, 'cooled') \g /dev/null
select pg_temp.arrive('12:00:10', 'wanted', p_count => 3);
select pg_temp.round('12:01') \g /dev/null
select is(
  pg_temp.incidents('plain'), '{12:01 1x 3 3 12:01 open}', 'a rule that fires opens an incident'
);
select is(pg_temp.incidents('empty'), '{}', 'a rule that does not fire has none');
select results_eq(
  $$select h.incident_id = i.incident_id from logloom.alert_history h
    join logloom.alert_incidents i using (rule_id)$$,
  array[true, true], 'each alert belongs to an incident of its rule'
);
select pg_temp.arrive('12:01:10', 'wanted', p_count => 5);
select pg_temp.round('12:02') \g /dev/null
select pg_temp.arrive('12:02:10', 'wanted', p_count => 2);
select pg_temp.round('12:03') \g /dev/null
select is(
  pg_temp.incidents('plain'), '{12:01 3x 2 5 12:03 open}',
  'an incident continues while the condition holds'
);
select is(pg_temp.incidents('cooled'), '{12:01 1x 2 5 12:03 open}', 'also during the cooldown');
select pg_temp.round('12:04') \g /dev/null
select is(
  pg_temp.incidents('plain'), '{12:01 3x 2 5 12:03 recovered 12:04}',
  'and ends with the first window in which it does not hold'
);
select is(
  (select i.resolved_at from logloom.alert_incidents i where i.rule_name = 'plain'),
  pg_temp.at('12:04:06'), 'at the time when that was evaluated'
);

-- The rule fires again.
select pg_temp.arrive('12:04:10', 'wanted', p_count => 4);
select pg_temp.round('12:05') \g /dev/null
select is(
  pg_temp.incidents('plain'), '{12:01 3x 2 5 12:03 recovered 12:04,12:05 1x 4 4 12:05 open}',
  'firing again opens another incident'
);
select is(
  pg_temp.incidents('cooled'), '{12:01 1x 4 5 12:05 open}',
  'during the cooldown the same incident opens again'
);
select pg_temp.round('12:06') \g /dev/null
select pg_temp.round('12:07') \g /dev/null
select pg_temp.arrive('12:07:10', 'wanted', p_count => 2);
select pg_temp.round('12:08') \g /dev/null
select is(
  pg_temp.incidents('cooled'), '{12:01 1x 4 5 12:05 recovered 12:06,12:08 1x 2 2 12:08 open}',
  'after the cooldown it is another incident'
);
select pg_temp.round('12:09') \g /dev/null

-- Late records change values, but fire nothing twice.
savepoint late;
select pg_temp.arrive('12:08:10', 'wanted', p_count => 3);
select pg_temp.round('12:10') \g /dev/null
select is(
  (pg_temp.incidents('plain'))[3:], '{12:08 2x 3 3 12:09 recovered 12:10}',
  'a late record that disproves the end opens the incident again'
);
rollback to late;
select pg_temp.arrive('12:09:10', 'wanted', p_count => 3);
select pg_temp.round('12:10') \g /dev/null
select pg_temp.arrive('12:09:20', 'wanted', p_count => 3);
select pg_temp.round('12:11') \g /dev/null
select is(
  (pg_temp.incidents('plain'))[4:], '{12:10 1x 6 6 12:10 recovered 12:11}',
  'a late record in a fired window changes the value, and nothing fires again'
);

-- Windows of missed rounds are evaluated in order.
select pg_temp.arrive('12:12:10', 'wanted', p_count => 2);
select pg_temp.arrive('12:14:10', 'wanted', p_count => 2);
select pg_temp.round('12:20') \g /dev/null
select is(
  (pg_temp.incidents('plain'))[5:],
  '{12:20 1x 2 2 12:13 recovered 12:14,12:20 1x 2 2 12:15 recovered 12:16}',
  'missed windows are evaluated in order'
);

-- A failing query does not end an incident. A window without a value does.
select pg_temp.rule('wanted | avg(@ms)', 'gt', 1, 1, 0, 'average') \g /dev/null
select pg_temp.arrive('12:20:10', 'wanted', '{"ms": 5}');
select pg_temp.round('12:21') \g /dev/null
select is(pg_temp.incidents('average'), '{12:21 1x 5 5 12:21 open}', 'an average');
savepoint failing;
select logloom_private.settle_alert_windows(
  array[row(r.rule_id, pg_temp.at('12:22'), pg_temp.at('12:22'), null, 'It rests', null, null)
    ::logloom_private.alert_window], o, now()
) from logloom.alert_rules r, logloom_private.alert_rounds o where r.name = 'average' \g /dev/null
select is(
  pg_temp.incidents('average'), '{12:21 1x 5 5 12:21 open}',
  'if a rule cannot be evaluated its incident stays'
);
rollback to failing;
select pg_temp.round('12:22') \g /dev/null
select is(
  pg_temp.incidents('average'), '{12:21 1x 5 5 12:21 recovered 12:22}',
  'a window without data ends it'
);

-- Each group has its own incident.
select pg_temp.rule('ts:* | count() by level', 'gte', 2, 1, 0, 'levels') \g /dev/null
select pg_temp.arrive('12:22:10', 'a', null, 'error', 'acme', 3);
select pg_temp.arrive('12:22:20', 'b', null, 'info', 'acme', 2);
select pg_temp.round('12:23') \g /dev/null
select pg_temp.arrive('12:23:10', 'a', null, 'error', 'acme', 4);
select pg_temp.arrive('12:23:20', 'b', null, 'info', 'acme', 1);
select pg_temp.round('12:24') \g /dev/null
select is(
  pg_temp.incidents('levels'),
  '{error 12:23 2x 4 4 12:24 open,info 12:23 1x 2 2 12:23 recovered 12:24}',
  'each group has its own incident'
);
select pg_temp.round('12:25') \g /dev/null
select is(
  (pg_temp.incidents('levels'))[:1], '{error 12:23 2x 4 4 12:24 recovered 12:25}',
  'it ends when the group sends no records'
);

-- A change of the rule ends its incidents.
select pg_temp.rule('ts:*', 'lt', 9, 1, 0, 'changed') \g /dev/null
select pg_temp.round('12:26') \g /dev/null
create function pg_temp.after(p_change text)
returns text
language plpgsql
as $$
declare
  v_resolution text;
begin
  perform pg_temp.act_as_user('acme', 'alice');
  execute format(p_change, (select r.rule_id from public.list_alert_rules() r limit 1));
  perform pg_temp.act_as_postgres();
  v_resolution := (
    select i.resolution from logloom.alert_incidents i where i.rule_name = 'changed'
  );
  -- Undoes the change.
  raise no_data_found;
exception when no_data_found then
  return v_resolution;
end;
$$;
savepoint unchanged;
update logloom.alert_rules set created_at = now() + interval '1 day' where name = 'changed';
select is(pg_temp.after(c.change), c.resolution, c.change)
from (
  values
    ('select public.update_alert_rule(%L, p_name => ''changed'', p_cooldown_minutes => 7)', null),
    ('select public.update_alert_rule(%L, p_notification_config => ''{}'')', null),
    ('select public.update_alert_rule(%L, p_enabled => true)', null),
    ('select public.update_alert_rule(%L, p_threshold => 8)', 'rule_changed'),
    ('select public.update_alert_rule(%L, p_query_dsl => ''x'')', 'rule_changed'),
    ('select public.update_alert_rule(%L, p_window_minutes => 2)', 'rule_changed'),
    ('select public.update_alert_rule(%L, p_enabled => false)', 'rule_disabled'),
    ('select public.delete_alert_rule(%L)', 'rule_deleted')
) c (change, resolution);
rollback to unchanged;
select is(
  (
    select array_agg(i.resolution)
    from logloom.alert_incidents i, logloom_private.begin_alert_round(
      pg_temp.at('12:20'), pg_temp.at('12:19')
    )
    where i.rule_name = 'changed'
  ),
  array[null::text], 'setting the clock back ends no incident'
);
rollback to unchanged;

-- What a user sees and can do.
create temp table ids as
select row_number() over (order by i.opened_at, i.rule_name, i."group")::integer as n,
  i.incident_id as id, i.rule_name
from logloom.alert_incidents i;
grant select on ids to public;
insert into logloom.alert_incidents (
  incident_id, tenant_id, rule_id, rule_name, window_minutes, threshold, opened_at, last_fired_at,
  value, peak_value, held_until
)
values (
  '00000000-0000-4000-8000-000000000001', 'umbrella', gen_random_uuid(), 'other', 5, 1, now(),
  now(), 2, 2, now()
);
select pg_temp.act_as_user('acme', 'alice');
select is(
  (select to_jsonb(i) - '{incident_id,rule_id}'::text[]
    from public.list_alert_incidents(p_state => 'open') i),
  '{
    "tenant_id": "acme", "rule_name": "changed", "query_dsl": "ts:*", "window_minutes": 1,
    "group": null, "state": "open", "opened_at": "2026-03-03T12:26:06+00:00",
    "last_fired_at": "2026-03-03T12:26:06+00:00", "resolved_at": null, "resolution": null,
    "fired_count": 1, "value": 0, "peak_value": 0, "threshold": 9, "comparison": "lt",
    "acknowledged_at": null, "acknowledged_by": null, "assigned_to": null, "assigned_at": null,
    "assigned_by": null, "note": null, "noted_at": null, "noted_by": null
  }',
  'an incident is shown'
);
select is(
  (select array_agg(i.incident_id) from public.list_alert_incidents() i),
  (select array_agg(i.incident_id order by i.opened_at desc, i.incident_id desc)
    from ids d join logloom.alert_incidents i on i.incident_id = d.id),
  'the newest come first'
);
select is(
  (
    select array_agg(i.incident_id)
    from (select d.incident_id from public.list_alert_incidents() d offset 2 limit 1) l
    cross join lateral public.list_alert_incidents(p_after => l.incident_id, p_limit => 2) i
  ),
  (select array_agg(i.incident_id) from (
    select l.incident_id from public.list_alert_incidents() l offset 3 limit 2
  ) i),
  'p_after gives the next page'
);
select is(
  (select array_agg(distinct i.rule_name) from public.list_alert_incidents(p_rule_id => (
    select r.rule_id from public.list_alert_rules() r where r.name = 'cooled'
  )) i),
  '{cooled}', 'p_rule_id selects one rule'
);
select is(
  (select count(*) from public.list_alert_incidents(p_state => 'resolved')),
  (select count(*) - 1 from ids), 'p_state selects resolved incidents'
);
select throws_ok(
  $$select public.list_alert_incidents(p_state => 'closed')$$,
  'PT400', 'Invalid p_state: one of open, acknowledged, resolved, unresolved',
  'an unknown state is refused'
);
select throws_ok(
  $$select public.list_alert_incidents(p_after => '00000000-0000-4000-8000-000000000001')$$,
  'PT400', 'Invalid p_after: no such incident', 'p_after cannot be another tenant''s incident'
);
select is(
  (
    select jsonb_build_array(cardinality(d.alerts), d.alerts[1].value, d.alerts[1].resolved_at,
      d.deliveries, d.state)
    from ids i, public.get_alert_incident(i.id) d
    where i.n = 1
  ),
  '[1, 3, "2026-03-03T12:06:06+00:00", [], "resolved"]', 'an incident has its alerts and deliveries'
);
select throws_ok(
  $$select public.get_alert_incident('00000000-0000-4000-8000-000000000001')$$,
  'PT404', 'Incident not found', 'another tenant''s incident is not found'
);
-- Changes by users.
select pg_temp.act_as_postgres();
insert into logloom.log_views (view_id, tenant_id, name, created_by)
values ('00000000-0000-4000-8000-000000000009', 'acme', 'v', 'alice');
insert into logloom.tenant_members (tenant_id, user_id, role, email, view_id)
values
  ('acme', 'alice', 'owner', null, null),
  ('acme', 'bob', 'member', 'bob@acme.example', null),
  ('acme', 'twin-1', 'member', 'twin@acme.example', null),
  ('acme', 'twin-2', 'member', 'Twin@acme.example', null),
  ('acme', 'vera', 'viewer', 'vera@acme.example', '00000000-0000-4000-8000-000000000009'),
  ('umbrella', 'uma', 'owner', 'uma@umbrella.example', null);
delete from logloom.audit_events where tenant_id = 'acme';
-- Returns the user changes of the open incident, as users see them.
create function pg_temp.done()
returns text
language sql
as $$
  select concat_ws(
    ', ', i.state, 'acknowledged by ' || i.acknowledged_by || to_char(i.acknowledged_at, ' HH24'),
    'assigned to ' || i.assigned_to || ' by ' || i.assigned_by || to_char(i.assigned_at, ' HH24'),
    'noted ' || i.note || ' by ' || i.noted_by || to_char(i.noted_at, ' HH24')
  )
  from public.list_alert_incidents() i
  where i.rule_name = 'changed'
$$;
create temp table deeds as
select row_number() over () as n, d.* from (
  values
    ('alice', 'true, ''bob@ACME.example'', E'' Asked the host.\n''',
      'acknowledged, acknowledged by alice HH, assigned to bob@acme.example by alice HH, '
        'noted Asked the host. by alice HH'),
    ('bob', 'true',
      'acknowledged, acknowledged by alice HH, assigned to bob@acme.example by alice HH, '
        'noted Asked the host. by alice HH'),
    ('bob', 'null, ''alice'', ''Mine''',
      'acknowledged, acknowledged by alice HH, assigned to alice by bob@acme.example HH, '
        'noted Mine by bob@acme.example HH'),
    ('bob', 'false', 'open, assigned to alice by bob@acme.example HH, '
        'noted Mine by bob@acme.example HH'),
    ('bob', 'null, ''''', 'open, noted Mine by bob@acme.example HH'),
    ('bob', 'null, null, '' ''', 'open'),
    ('alice', 'true', 'acknowledged, acknowledged by alice HH')
) d (user_id, parameters, found);
create function pg_temp.after_deed(p_deed deeds)
returns text
language plpgsql
as $$
declare
  v_ids constant uuid[] := array(
    select d.id from ids d where d.rule_name = 'changed' or d.n = 1
  );
  v_found text;
begin
  perform pg_temp.act_as_user('acme', p_deed.user_id);
  execute format('select public.update_alert_incident(%L, %s)', v_ids, p_deed.parameters);
  v_found := pg_temp.done();
  perform pg_temp.act_as_postgres();
  return v_found;
end;
$$;
select is(
  pg_temp.after_deed(d), replace(d.found, 'HH', to_char(now(), 'HH24')),
  format('update_alert_incident(…, %s) by %s', d.parameters, d.user_id)
)
from deeds d
order by d.n;
select results_eq(
  $$select e.actor, e.details::text
    from logloom.audit_events e
    where e.action = 'alert_incident.changed'
      and e.subject = (select d.id::text from ids d where d.rule_name = 'changed')
    order by e.occurred_at$$,
  format(
    $$values
      ('alice', '{"noted_at": {"to": %1$s, "from": null}, '
        '"assigned_to": {"to": "bob", "from": null}, '
        '"acknowledged_by": {"to": "alice", "from": null}}'),
      ('bob', '{"assigned_to": {"to": "alice", "from": "bob"}}'),
      ('bob', '{"acknowledged_by": {"to": null, "from": "alice"}}'),
      ('bob', '{"assigned_to": {"to": null, "from": "alice"}}'),
      ('bob', '{"noted_at": {"to": null, "from": %1$s}}'),
      ('alice', '{"acknowledged_by": {"to": "alice", "from": null}}')$$,
    to_json(now())
  ),
  'audit events say who changed what'
);
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select i.rule_name, i.state, i.acknowledged_by from ids d
    cross join public.get_alert_incident(d.id) i
    where d.rule_name = 'changed' or d.n = 1
    order by 1$$,
  $$values ('changed', 'acknowledged', 'alice'), ('cooled', 'resolved', 'alice')$$,
  'many incidents are changed at once; a resolved one stays resolved'
);
select is(
  (select array_agg(distinct h.rule_id) from public.list_alert_history(p_acknowledged => true) h),
  (select array_agg(distinct r.rule_id)
    from public.list_alert_rules() r where r.name in ('changed', 'cooled')),
  'their alerts are acknowledged, too'
);
savepoint taken_back;
select public.update_alert_incident(array_agg(d.id), false)
from ids d where d.rule_name = 'changed' \g /dev/null
select is(
  (select array_agg(distinct h.rule_id) from public.list_alert_history(p_acknowledged => true) h),
  (select array_agg(r.rule_id) from public.list_alert_rules() r where r.name = 'cooled'),
  'taking back the incident''s acknowledgement takes back theirs'
);
rollback to taken_back;
select throws_ok(
  format('select public.update_alert_incident(%s)', replace(v.parameters, 'own', quote_literal(
    array(select d.id from ids d where d.rule_name = 'changed')
  ))),
  v.code, v.message, v.parameters
)
from (
  values
    ('''{00000000-0000-4000-8000-000000000001}'', true', 'PT404', 'Incident not found'),
    ('own || ''{00000000-0000-4000-8000-000000000001}''::uuid[], true', 'PT404',
      'Incident not found'),
    ('own || ''{null}''::uuid[], true', 'PT404', 'Incident not found'),
    ('''{}'', true', 'PT400', 'Invalid p_incident_ids: 1 to 1000 ids'),
    ('array(select gen_random_uuid() from generate_series(1, 1001)), true', 'PT400',
      'Invalid p_incident_ids: 1 to 1000 ids'),
    ('null, true', 'PT400', 'Missing required parameter: p_incident_ids'),
    ('own', 'PT400', 'Nothing to change: send p_acknowledged, p_assigned_to or p_note'),
    ('own, p_note => repeat(''ä'', 2001)', 'PT400', 'Invalid p_note: at most 2000 characters')
) v (parameters, code, message);
select throws_ok(
  format('select public.update_alert_incident(%L, p_assigned_to => %L)',
    array(select d.id from ids d where d.rule_name = 'changed'), v.name),
  'PT400', 'Invalid p_assigned_to: not the user_id or email address of one member', v.name
)
from unnest('{nobody,vera,uma,uma@umbrella.example,twin@acme.example}'::text[]) v (name);
select is(pg_temp.done(), 'acknowledged, acknowledged by alice ' || to_char(now(), 'HH24'),
  'refused calls change nothing');
select pg_temp.act_as_postgres();
delete from logloom.tenant_members where tenant_id = 'acme';
select pg_temp.act_as_user('acme', 'bob');
select throws_ok(
  format('select public.update_alert_incident(%L, p_assigned_to => ''alice'')',
    array(select d.id from ids d where d.rule_name = 'changed')),
  'PT400', 'Invalid p_assigned_to: not the user_id or email address of one member',
  'without members users can only assign themselves'
);
savepoint unassigned;
select public.update_alert_incident(array_agg(d.id), p_assigned_to => 'bob')
from ids d where d.rule_name = 'changed' \g /dev/null
select matches(pg_temp.done(), 'assigned to bob by bob', 'who is bob');
rollback to unassigned;
select pg_temp.act_as_postgres();

-- The rule fires again after the incident was acknowledged.
select pg_temp.round('12:27') \g /dev/null
select is(
  (select row(i.fired_count, i.acknowledged_by, i.resolved_at)::text
    from logloom.alert_incidents i where i.rule_name = 'changed'),
  '(2,alice,)', 'an acknowledged incident gets further alerts'
);
select pg_temp.act_as_user('acme', 'bob');
select public.acknowledge_alert(h.alert_id)
from (
  select h.alert_id from public.list_alert_history(p_rule_id => (
    select r.rule_id from public.list_alert_rules() r where r.name = 'plain'
  )) h where h.triggered_at < pg_temp.at('12:03')
) h \g /dev/null
select is(
  (select i.acknowledged_by from public.list_alert_incidents() i
    where i.rule_name = 'plain' order by i.opened_at limit 1),
  null, 'acknowledging some of its alerts does not acknowledge an incident'
);
select public.acknowledge_alert(h.alert_id)
from (
  select h.alert_id from public.list_alert_history(p_rule_id => (
    select r.rule_id from public.list_alert_rules() r where r.name = 'plain'
  )) h where h.triggered_at = pg_temp.at('12:03:06')
) h \g /dev/null
select is(
  (select i.acknowledged_by from public.list_alert_incidents() i
    where i.rule_name = 'plain' order by i.opened_at limit 1),
  'bob', 'acknowledging the last alert does'
);
select pg_temp.act_as_postgres();

-- A rule that changed after the end of an incident opens a new one, also in the cooldown of before.
select pg_temp.rule('asked', 'gt', 1, 1, 5, 'asked') \g /dev/null
select pg_temp.arrive('14:00:10', 'asked', p_count => 3);
select pg_temp.round('14:01') \g /dev/null
select pg_temp.round('14:02') \g /dev/null
update logloom.alert_rules set window_minutes = 2, asked_at = pg_temp.at('14:02:30')
where name = 'asked';
select pg_temp.arrive('14:02:40', 'asked', p_count => 2);
select pg_temp.round('14:03') \g /dev/null
select pg_temp.round('14:04') \g /dev/null
select pg_temp.arrive('14:05:10', 'asked', p_count => 4);
select pg_temp.round('14:06') \g /dev/null
select is(
  pg_temp.incidents('asked'),
  array['14:01 1x 3 3 14:01 recovered 14:02', '14:03 1x 4 4 14:06 open'],
  'a changed rule opens a new incident'
);

-- Old incidents are deleted.
update logloom.alert_incidents set resolved_at = now() - interval '500 days'
where rule_name = 'plain';
select logloom_private.purge_old_rows() \g /dev/null
select is_empty(
  $$select from logloom.alert_incidents i where i.rule_name = 'plain'$$,
  'they are deleted after their lifetime'
);

select * from finish();
rollback;
