-- Rules with for_minutes or on_absent, and silences.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir rounds.psql
select plan(36);

create function pg_temp.fired_groups(p_name text)
returns text[]
language sql
return array(
  select concat_ws(
    ' ', to_char(h.window_end, 'HH24:MI'), h."group" ->> 'service', h.value,
    case when h.absent then 'absent' end
  )
  from logloom.alert_history h
  join logloom.alert_rules r on r.rule_id = h.rule_id
  where r.name = p_name
  order by h.window_end, h."group" ->> 'service' collate "C"
);
create function pg_temp.arrive_of(p_time text, p_service text)
returns void
language plpgsql
as $$
begin
  execute logloom_private.added_records_sql($query$
    insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, level, service)
    select gen_random_uuid(), 'acme', $1, $1, nextval('logloom_private.write_seq'), 'info', $2
  $query$)
  using pg_temp.at(p_time), p_service;
end;
$$;

-- With for_minutes a rule only evaluates windows that no late record can change.
select pg_temp.rule('wanted', 'gt', 0, 1, 0, 'late') \g /dev/null
update logloom.alert_rules set for_minutes = 2 where name = 'late';
select pg_temp.arrive('11:00:10', 'wanted');
select pg_temp.round('11:01') \g /dev/null
select pg_temp.arrive('11:01:10', 'wanted');
select pg_temp.round('11:02') \g /dev/null
select pg_temp.arrive('11:02:10', 'wanted', p_count => 2);
select pg_temp.round('11:03') \g /dev/null
select pg_temp.arrive('11:03:10', 'wanted');
select pg_temp.round('11:04') \g /dev/null
select is(pg_temp.fired('late'), '{}', 'it does not fire at once');
select is_empty('select from logloom.alert_incidents', 'nor is there an incident');
select pg_temp.round('11:05') \g /dev/null
select is(pg_temp.fired('late'), '{11:03 2}', 'but when the condition has held long enough');
select results_eq(
  'select r.last_evaluated_at, r.last_value from logloom.alert_rules r',
  $$values (pg_temp.at('11:05'), 2::double precision)$$,
  'its last value is from the window that ended two minutes ago'
);
select pg_temp.round('11:06') \g /dev/null
select pg_temp.round('11:07') \g /dev/null
select is(
  (select i.resolution || ' ' || i.fired_count from logloom.alert_incidents i), 'recovered 2',
  'one window in which the condition does not hold ends the incident'
);
select pg_temp.arrive('11:07:10', 'wanted');
select pg_temp.round('11:08') \g /dev/null
select pg_temp.arrive('11:08:10', 'wanted');
select pg_temp.round('11:09') \g /dev/null
select pg_temp.round('11:10') \g /dev/null
select pg_temp.arrive('11:10:10', 'wanted');
select pg_temp.round('11:11') \g /dev/null
select pg_temp.round('11:12') \g /dev/null
select pg_temp.round('11:13') \g /dev/null
select is(pg_temp.fired('late'), '{11:03 2,11:04 1}', 'and the time starts again');
select pg_temp.arrive('11:11:10', 'wanted');
select pg_temp.arrive('11:12:10', 'wanted');
select pg_temp.arrive('11:13:10', 'wanted');
select pg_temp.round('11:17') \g /dev/null
select is(
  (pg_temp.fired('late'))[3:], '{11:13 1,11:14 1}', 'also in windows that are evaluated late'
);
update logloom.alert_rules set enabled = false where name = 'late';
select is_empty('select from logloom_private.alert_states', 'a disabled rule forgets the time');

-- Records that arrive after their window was evaluated.
select pg_temp.rule('tardy', 'gt', 0, 1, 0, 'many') \g /dev/null
select pg_temp.rule('tardy', 'lt', 1, 1, 0, 'few') \g /dev/null
update logloom.alert_rules set for_minutes = 2 where name in ('many', 'few');
select pg_temp.round('11:20') \g /dev/null
create function pg_temp.late_rounds(p_from integer, p_to integer)
returns void
language plpgsql
as $$
begin
  for v_minute in p_from..p_to loop
    if v_minute <> 25 then
      perform pg_temp.arrive('11:' || v_minute - 3 || ':30', 'tardy');
    end if;
    perform pg_temp.round('11:' || v_minute);
  end loop;
end;
$$;
select pg_temp.late_rounds(21, 34);
select is(
  pg_temp.fired('many'),
  '{11:21 1,11:22 1,11:26 1,11:27 1,11:28 1,11:29 1,11:30 1,11:31 1,11:32 1}', 'late records count'
);
select is(pg_temp.fired('few'), '{}', 'a condition that they disprove does not');
select results_eq(
  $$select to_char(a.window_end at time zone 'UTC', 'HH24:MI') || ' ' || a.value
    from logloom.alert_rules r
    cross join unnest(logloom_private.preview_alerts(array(
      select row(null, e.at - '1 minute'::interval, e.at, count(l.ts), null, null, null)
        ::logloom_private.alert_window
      from generate_series(pg_temp.at('11:18'), pg_temp.at('11:32'), '1 minute') e (at)
      left join logloom.logs l
        on l.ts >= e.at - interval '1 minute' and l.ts < e.at and l.msg = 'tardy'
      group by e.at
    ), r, '1 minute')) a
    where r.name in ('many', 'few')$$,
  $$select unnest(pg_temp.fired('many'))$$, 'a preview shows the same'
);
update logloom.alert_rules set enabled = false where name in ('many', 'few');

-- A new rule with groups and for_minutes waits for its first window.
select pg_temp.rule('ts:* | count() by service', 'gt', 0, 1, 0, 'grouped') \g /dev/null
update logloom.alert_rules set for_minutes = 1, asked_at = pg_temp.at('11:34:30')
where name = 'grouped';
select pg_temp.arrive_of('11:' || i || ':10', 'api'), pg_temp.round('11:' || i + 1)
from generate_series(34, 37) i \g /dev/null
select is(
  pg_temp.fired_groups('grouped'), '{11:36 api 1}',
  'a new rule waits until its first window is closed'
);
update logloom.alert_rules set enabled = false where name = 'grouped';

-- A rule that fires at once gets for_minutes: a condition that still holds has not recovered.
select pg_temp.rule('ts:* | count() by service', 'gt', 0, 1, 0, 'changed') \g /dev/null
select pg_temp.arrive_of('11:39:10', 'api');
select pg_temp.round('11:40') \g /dev/null
select pg_temp.act_as_user('acme', 'alice');
select public.update_alert_rule(p_rule_id => r.rule_id, p_for_minutes => 5)
from logloom.alert_rules r where r.name = 'changed' \g /dev/null
select pg_temp.act_as_postgres();
select pg_temp.arrive_of('11:' || i || ':10', 'api'), pg_temp.round('11:' || i + 1)
from generate_series(40, 44) i \g /dev/null
select is(
  (select string_agg(coalesce(i.resolution, 'open'), ' ')
    from logloom.alert_incidents i where i.rule_name = 'changed'),
  'rule_changed', 'the change ends the incident'
);
update logloom.alert_rules set enabled = false where name = 'changed';

-- With on_absent a group that stops sending fires.
select pg_temp.rule('ts:* | count() by service', 'gt', 5, 1, 0, 'missing') \g /dev/null
update logloom.alert_rules set on_absent = 'fire' where name = 'missing';
select pg_temp.arrive_of('12:13:10', 'api');
select pg_temp.arrive_of('12:13:10', 'web');
select pg_temp.round('12:14') \g /dev/null
select is(pg_temp.fired_groups('missing'), '{}', 'groups that send do not fire');
select pg_temp.arrive_of('12:14:10', 'api');
select pg_temp.round('12:15') \g /dev/null
select is(
  pg_temp.fired_groups('missing'), '{12:15 web 0 absent}', 'a group that stops sending fires'
);
select pg_temp.arrive_of('12:15:10', 'web');
select pg_temp.arrive_of('12:15:10', 'api');
select pg_temp.round('12:16') \g /dev/null
select results_eq(
  $$select i."group" ->> 'service', i.resolution from logloom.alert_incidents i
    where i.rule_name = 'missing'$$,
  $$values ('web', 'recovered')$$, 'until it sends again'
);
update logloom.alert_rules set cooldown_minutes = 60 where name = 'missing';
select pg_temp.round('12:26') \g /dev/null
select is(
  (pg_temp.fired_groups('missing'))[2:], '{12:17 api 0 absent}',
  'all groups fire at once, each once in its cooldown'
);
select results_eq(
  $$select i."group" ->> 'service', i.resolution from logloom.alert_incidents i
    where i.rule_name = 'missing' order by 1$$,
  $$values ('api', null), ('web', null)$$, 'a group in its cooldown opens its incident again'
);
select pg_temp.round('12:27') \g /dev/null
select results_eq(
  $$select i."group" ->> 'service', i.resolution from logloom.alert_incidents i
    where i.rule_name = 'missing' order by 1$$,
  $$values ('api', 'still_absent'), ('web', 'still_absent')$$,
  'after ten windows it is no longer watched, which is not a recovery'
);

-- A late record makes the condition hold in an earlier window.
update logloom.alert_rules set enabled = false where name = 'missing';
select pg_temp.rule('ts:* | count() by service', 'gt', 1, 1, 0, 'both') \g /dev/null
update logloom.alert_rules set on_absent = 'fire' where name = 'both';
select pg_temp.arrive_of('12:27:10', 'api');
select pg_temp.round('12:28') \g /dev/null
select pg_temp.arrive_of('12:27:20', 'api');
select pg_temp.arrive_of('12:28:10', 'api');
select pg_temp.round('12:29') \g /dev/null
select is(pg_temp.fired_groups('both'), '{12:28 api 2}', 'fires for rules with on_absent, too');
update logloom.alert_rules set enabled = false where name = 'both';

-- A silence keeps alerts from being sent.
select pg_temp.rule('ts:* | count() by service', 'gt', 0, 1, 0, 'loud') \g /dev/null
update logloom.alert_rules set notification_destinations = '{webhook}',
  notification_config = '{"webhook_url": "https://example.com/hook"}' where name = 'loud';
create temp table loud as select r.rule_id from logloom.alert_rules r where r.name = 'loud';
grant select on loud to public;
select pg_temp.act_as_user('acme', 'alice');
create temp table made as
select s.*
from loud l, public.create_alert_silence(
  jsonb_build_object('rule_id', l.rule_id, 'group', '{"service": "api"}'::jsonb),
  '2026-03-03T12:00Z', '2099-01-01', ' We deploy '
) s;
select is(
  (select to_jsonb(m) - '{silence_id,created_at,matcher}'::text[] from made m),
  '{
    "tenant_id": "acme", "starts_at": "2026-03-03T12:00:00+00:00",
    "ends_at": "2099-01-01T00:00:00+00:00", "state": "active", "comment": "We deploy",
    "created_by": "alice", "expired_at": null, "expired_by": null,
    "recurrence": null
  }',
  'a silence is created'
);
select pg_temp.act_as_postgres();
select pg_temp.arrive_of('12:29:10', 'api');
select pg_temp.arrive_of('12:29:10', 'web');
select pg_temp.round('12:30') \g /dev/null
select results_eq(
  $$select h."group" ->> 'service', h.silence_id = m.silence_id
    from made m, logloom.alert_history h join loud using (rule_id) order by 1$$,
  $$values ('api', true), ('web', null)$$, 'the history names the silence of an alert'
);
select results_eq(
  $$select n.body::jsonb #>> '{data,group,service}' from logloom_private.notifications n$$,
  array['web'], 'the alert is not sent'
);
select pg_temp.act_as_user('acme', 'bob');
create function pg_temp.expire()
returns text
language sql
as $$
  select row(s.state, s.expired_by)::text
  from made m, public.expire_alert_silence(m.silence_id) s
$$;
select is(pg_temp.expire(), '(expired,bob)', 'a silence can be ended');
select is(pg_temp.expire(), '(expired,bob)', 'once');
select is(
  (select count(*)::integer from public.list_alert_silences() s where s.state = 'expired'), 1,
  'and stays in the list'
);
select throws_ok(
  format('select public.create_alert_silence(%L, p_to => %L)', v.matcher, v.until), v.code,
  v.message, coalesce(v.matcher, 'null') || ' ' || v.until
)
from (
  values
    (null, '2099-01-01', 'PT400', 'Missing required parameter: p_matcher'),
    ('{"rule": "x"}', '2099-01-01', 'PT400',
      'Invalid p_matcher: an object of rule_id (a UUID) and group (an object of texts)'),
    ('{"rule_id": "x"}', '2099-01-01', 'PT400',
      'Invalid p_matcher: an object of rule_id (a UUID) and group (an object of texts)'),
    ('{"group": {"a": 1}}', '2099-01-01', 'PT400',
      'Invalid p_matcher: an object of rule_id (a UUID) and group (an object of texts)'),
    ('{"rule_id": "00000000-0000-4000-8000-000000000009"}', '2099-01-01', 'PT404',
      'Alert rule not found'),
    ('{}', '2020-01-01', 'PT400', 'Invalid p_to: after p_from, and in the future')
) v (matcher, until, code, message);
select pg_temp.act_as_postgres();
update logloom.plans set max_alert_silences = 0 where plan_id = 'pro';
select pg_temp.act_as_user('acme', 'bob');
select throws_ok(
  $$select public.create_alert_silence('{}', p_to => '2099-01-01')$$,
  'PT400', 'Plan limit exceeded: alert silences (max 0)', 'the plan limits silences'
);
select pg_temp.act_as_postgres();
select results_eq(
  $$select a.action, a.actor from logloom.audit_events a where a.tenant_id = 'acme'
    and a.action like 'alert_silence.%' order by a.action$$,
  $$values ('alert_silence.created', 'alice'), ('alert_silence.expired', 'bob')$$,
  'both are audited'
);
update logloom.alert_silences set expired_at = now() - interval '29 days';
select logloom_private.purge_old_rows() \g /dev/null
select is(
  (select count(*)::integer from logloom.alert_silences), 1,
  'a silence is kept for a month after its end'
);
update logloom.alert_silences set expired_at = now() - interval '31 days';
select logloom_private.purge_old_rows() \g /dev/null
select is_empty('select from logloom.alert_silences', 'counted from when it really ended');

select * from finish();
rollback;
