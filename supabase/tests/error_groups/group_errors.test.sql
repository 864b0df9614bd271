begin;
\ir ../alerts/rounds.psql
\ir ../actors.psql
select plan(31);

update logloom.plans
set max_error_groups = 5, retention_days_default = 400, retention_days_max = 400
where plan_id = 'pro';
update logloom_private.error_progress
set
  counted_from = currval('logloom_private.write_seq'),
  write_seq = currval('logloom_private.write_seq')
where nextval('logloom_private.write_seq') > 0;

create function pg_temp.error(
  p_time text, p_msg text, p_service text default 'web', p_attrs jsonb default null,
  p_user_id text default null, p_count integer default 1, p_tenant_id text default 'acme'
)
returns void
language plpgsql
as $$
begin
  execute logloom_private.added_records_sql($query$
    insert into logloom.logs as l (
      id, tenant_id, ts, received_at, write_seq, level, msg, service, attrs, user_id
    )
    select gen_random_uuid(), $1, $2, $2, nextval('logloom_private.write_seq'), 'error', $3, $4,
      $5, $6
    from generate_series(1, $7)
  $query$)
  using p_tenant_id, pg_temp.at(p_time), p_msg, p_service, p_attrs, p_user_id, p_count;
end;
$$;

-- Runs the job at a time until nothing is left.
create function pg_temp.step(p_time text)
returns void
language sql
as $$
  select pg_temp.repeat_while(
    format('logloom_private.group_errors_at(pg_temp.at(%L)) is not null', p_time)
  )
$$;

-- State and number of records of a group.
create function pg_temp.state_of(p_title text)
returns text
language sql
as $$ select g.state || ' ' || g.records from logloom.error_groups g where g.title = p_title $$;

create function pg_temp.groups(p_time text default '13:00')
returns setof text
language sql
as $$
  select concat_ws(
    ' | ', g.service, g.title, logloom_private.error_state(g, pg_temp.at(p_time)),
    g.records, cardinality(g.users),
    to_char(g.first_seen at time zone 'UTC', 'HH24:MI') || '-'
      || to_char(g.last_seen at time zone 'UTC', 'HH24:MI'),
    g.first_release, g.last_release
  )
  from logloom.error_groups g
  where g.tenant_id = 'acme'
  order by g.title collate "C", g.service
$$;

select pg_temp.error('12:00', 'Order 17 failed for "ann"', p_user_id => 'u1',
  p_attrs => '{"release": "1.0"}');
select pg_temp.error('12:10', 'Order 18 failed for "bob"', p_user_id => 'u2',
  p_attrs => '{"release": "1.1"}');
select pg_temp.error('11:00', 'Order 19 failed for "bob"', p_user_id => 'u2');
select pg_temp.error('12:11', 'Order 20 failed for "bob"', 'api');
select pg_temp.error('12:12', 'TypeError: x is undefined',
  p_attrs => '{"kind": "span"}');
select pg_temp.arrive('12:13', 'Order 17 failed for "ann"');
select pg_temp.step('12:20');

select results_eq(
  $$select pg_temp.groups()$$,
  array[
    'api | Order <*> failed for <*> | new | 1 | 0 | 12:11-12:11',
    'web | Order <*> failed for <*> | new | 3 | 2 | 11:00-12:10 | 1.0 | 1.1'
  ],
  'errors of one template and service are one group; spans and other levels make none'
);

select results_eq(
  $$select c.is_day, to_char(c.at at time zone 'UTC', 'DD HH24'), c.records
    from logloom_private.error_counts c
    join logloom.error_groups g using (tenant_id, fingerprint)
    where g.service = 'web'
    order by 1, 2$$,
  $$values (false, '03 11', 1::bigint), (false, '03 12', 2), (true, '03 00', 3)$$,
  'records are counted by hour and day of their ts'
);

-- A stack trace decides, not the message. What comes late or again is counted once.
select pg_temp.error('12:21', 'Error: a 1', p_attrs => '{"stack": "at f (/app/a.js:1:2)"}');
select pg_temp.error('12:21', 'Error: b', p_attrs => '{"stack": "at f (/app/a.js:9:9)"}');
select pg_temp.error('03:00', 'Error: c', p_attrs => '{"stack": "at f (/app/a.js:7:2)"}');
select pg_temp.step('12:22');
select pg_temp.step('12:23');
select results_eq(
  $$select g from pg_temp.groups() g where g like '%| Error: %'$$,
  array['web | Error: a <*> | new | 3 | 0 | 03:00-12:21'],
  'errors at one place are one group; a late one counts once'
);

-- The plan has room for five groups.
select pg_temp.error('12:24', 'Five', p_count => 3);
select pg_temp.error('12:24', 'Six', p_count => 2);
select pg_temp.error('12:24', 'Seven');
select pg_temp.error('12:24', 'Seven', p_tenant_id => 'umbrella');
select pg_temp.step('12:25');
select results_eq(
  $$select g from pg_temp.groups() g order by g collate "C"$$,
  array[
    'Errors beyond the limit of the plan | new | 1 | 0 | 12:24-12:24',
    'api | Order <*> failed for <*> | new | 1 | 0 | 12:11-12:11',
    'web | Error: a <*> | new | 3 | 0 | 03:00-12:21',
    'web | Five | new | 3 | 0 | 12:24-12:24',
    'web | Order <*> failed for <*> | new | 3 | 2 | 11:00-12:10 | 1.0 | 1.1',
    'web | Six | new | 2 | 0 | 12:24-12:24'
  ],
  'groups beyond the limit are counted together'
);
select is(
  (select string_agg(g.title, ',') from logloom.error_groups g where g.tenant_id = 'umbrella'),
  'Seven', 'another tenant has its own groups'
);

-- Rules of the kind new_error.
select pg_temp.act_as_user('acme', 'owner');
select public.create_alert_rule(
  p_name => 'any', p_enabled => true, p_kind => 'new_error', p_notify_on_recovery => true,
  p_notification_destinations => '{webhook}',
  p_notification_config => '{"webhook_url": "https://acme.test/hook"}'
) \g /dev/null
select public.create_alert_rule(
  p_name => 'api', p_enabled => true, p_kind => 'new_error', p_query_dsl => 'service:api'
) \g /dev/null
select results_eq(
  $$select r.name, r.kind, r.query_dsl, r.threshold, r.comparison::text, r.window_minutes,
      r.cooldown_minutes
    from public.list_alert_rules() r order by r.name$$,
  $$values ('any', 'new_error', '*', 0::double precision, 'gt', 1, 0),
    ('api', 'new_error', 'service:api', 0, 'gt', 1, 0)$$,
  'a rule of the kind new_error needs no condition'
);
select results_eq(
  $$select pg_temp.attempt(c) from unnest(array[
    'select public.create_alert_rule(p_name => ''x'', p_enabled => true, p_kind => ''new'', '
      'p_query_dsl => ''*'', p_threshold => 1, p_comparison => ''gt'', p_window_minutes => 1, '
      'p_cooldown_minutes => 1)',
    'select public.create_alert_rule(p_name => ''x'', p_enabled => true, p_kind => ''new_error'', '
      'p_threshold => 3)',
    'select public.create_alert_rule(p_name => ''x'', p_enabled => true, p_kind => ''new_error'', '
      'p_query_dsl => ''* | count()'')',
    'select public.update_alert_rule(p_rule_id => (select r.rule_id from '
      'public.list_alert_rules() r where r.name = ''api''), p_window_minutes => 5)',
    'select public.preview_alert_rule(p_rule_id => (select r.rule_id from '
      'public.list_alert_rules() r where r.name = ''api''))'
  ]) c$$,
  array[
    'PT400 Invalid p_kind: query or new_error',
    'PT400 A rule of the kind new_error has no condition',
    'PT400 Invalid p_query_dsl: an alert rule takes a filter, aggregates and math, and no other '
      'stage',
    'PT400 A rule of the kind new_error has no condition',
    'PT400 A rule of the kind new_error has no preview'
  ],
  'a condition and a preview are refused'
);
select pg_temp.act_as_postgres();
select is(pg_temp.round('12:26'), null, 'no round evaluates these rules');

create function pg_temp.told()
returns setof text
language sql
as $$
  select concat_ws(
    ' ', to_char(h.triggered_at at time zone 'UTC', 'HH24:MI'), r.name, h.value,
    h."group" - 'fingerprint'
  )
  from logloom.alert_history h
  join logloom.alert_rules r on r.rule_id = h.rule_id
  order by 1
$$;

update logloom.plans set max_error_groups = 100 where plan_id = 'pro';
select pg_temp.error('12:30', 'Disk is full', 'api', p_count => 2);
select pg_temp.error('12:30', 'Five');
select pg_temp.step('12:31');
select pg_temp.error('12:32', 'Disk is full', 'api');
select pg_temp.error('12:32', 'No space', 'web');
select pg_temp.step('12:33');
select results_eq(
  $$select pg_temp.told()$$,
  array[
    '12:31 any 2 {"error": "Disk is full", "service": "api"}',
    '12:31 api 2 {"error": "Disk is full", "service": "api"}',
    '12:33 any 1 {"error": "No space", "service": "web"}'
  ],
  'a new group fires each rule that finds it, once'
);
select is(
  (select count(*)::integer from logloom_private.notifications), 2,
  'each alert notifies the rule''s channels'
);

-- A customer's view hides what its parent hides.
savepoint customer;
with parent as (
  insert into logloom.log_views (tenant_id, name, hidden_fields, created_by)
  values ('acme', 'hides', '{service}', 'owner') returning view_id
), view as (
  insert into logloom.log_views (tenant_id, customer, parent_view_id, created_by)
  select 'acme', '42', p.view_id, 'owner' from parent p returning view_id
)
update logloom.alert_rules r set view_id = v.view_id, query_dsl = '*' from view v
where r.name = 'api';
select pg_temp.error('12:34', 'New', 'secret service');
select pg_temp.step('12:35');
select results_eq(
  $$select t from pg_temp.told() t where t like '12:35%' order by t$$,
  array['12:35 any 1 {"error": "New", "service": "secret service"}', '12:35 api 1 {}'],
  'an alert to a customer says nothing that the parent hides'
);
rollback to savepoint customer;

-- Resolved by a person, then back.
create function pg_temp.change(p_titles text, p_changes text)
returns text
language plpgsql
as $$
declare
  v_answer text;
begin
  perform pg_temp.act_as_user('acme', 'owner');
  v_answer := pg_temp.attempt(format(
    'select public.update_error_group(array(select g.fingerprint from public.list_error_groups('
      'p_state => ''{new,regressed,open,resolved,ignored}'') g where g.title ~ %L), %s)',
    p_titles, p_changes
  ));
  perform pg_temp.act_as_postgres();
  return v_answer;
end;
$$;
select is(pg_temp.change('Disk is full', $$p_state => 'resolved'$$), 'accepted', 'resolved');
select results_eq(
  $$select i.rule_name, i.resolution, i.resolved_at is not null
    from logloom.alert_incidents i where i."group" ->> 'error' = 'Disk is full' order by 1$$,
  $$values ('any', 'recovered', true), ('api', 'recovered', true)$$,
  'the incidents of a resolved group end'
);
select is(
  (select count(*)::integer from logloom_private.notifications n where n.purpose = 'recovery'), 1,
  'a rule with notify_on_recovery tells it'
);
update logloom.error_groups set resolved_at = pg_temp.at('12:40')
where title = 'Disk is full';
select pg_temp.error('12:39', 'Disk is full', 'api');
select pg_temp.step('12:41');
select is(
  pg_temp.state_of('Disk is full'), 'resolved 4',
  'a late record from before the resolution does not make a group regress'
);
select pg_temp.error('12:42', 'Disk is full', 'api');
select pg_temp.step('12:43');
select results_eq(
  $$select pg_temp.told() offset 3$$,
  array[
    '12:43 any 1 {"error": "Disk is full", "service": "api"}',
    '12:43 api 1 {"error": "Disk is full", "service": "api"}'
  ],
  'a group that is seen after it was resolved regresses and fires again'
);
select is(
  (select g from pg_temp.groups() g where g like '%Disk%'),
  'api | Disk is full | regressed | 5 | 0 | 12:30-12:42', 'its state is regressed'
);

-- Resolved in a release: only a later one regresses.
select pg_temp.error('12:44', 'Old', p_attrs => '{"release": "1.1"}');
select pg_temp.error('12:45', 'Old', p_attrs => '{"release": "1.2"}');
select pg_temp.step('12:46');
select pg_temp.change('Old', $$p_state => 'resolved', p_release => '1.2'$$) \g /dev/null
update logloom.error_groups set resolved_at = pg_temp.at('12:47') where title = 'Old';
select pg_temp.error('12:48', 'Old', p_attrs => '{"release": "1.2"}');
select pg_temp.error('12:48', 'Old', p_attrs => '{"release": "1.0"}');
select pg_temp.step('12:49');
select is(
  pg_temp.state_of('Old'), 'resolved 4', 'the same and earlier releases may still have the error'
);
select pg_temp.error('12:50', 'Old', p_attrs => '{"release": "1.3"}');
select pg_temp.step('12:51');
select is(
  (select g from pg_temp.groups() g where g like '%Old%'),
  'web | Old | regressed | 5 | 0 | 12:44-12:50 | 1.1 | 1.3', 'a later release makes it regress'
);

-- Ignored until a time; quiet groups resolve.
select pg_temp.change('Old', $$p_state => 'ignored', p_ignored_until => 'now+1h'$$) \g /dev/null
update logloom.error_groups set ignored_until = pg_temp.at('13:00') where title = 'Old';
select pg_temp.error('12:52', 'Old');
select pg_temp.step('12:53');
select is(pg_temp.state_of('Old'), 'ignored 6', 'still ignored');
select pg_temp.error('13:01', 'Old');
select pg_temp.step('13:02');
select is(pg_temp.state_of('Old'), 'open 7', 'seen after the end of ignoring');
select pg_temp.change('Old', $$p_state => 'ignored'$$) \g /dev/null
select pg_temp.error('13:02', 'Old');
select pg_temp.step('13:02');
select is(
  pg_temp.state_of('Old'), 'ignored 8', 'ignored without a time: it is counted, and stays ignored'
);
select pg_temp.change('Old', $$p_state => 'open'$$) \g /dev/null
update logloom.error_groups set updated_at = pg_temp.at('13:02');
select logloom_private.resolve_quiet_errors(pg_temp.at('13:00') + interval '14 days');
select results_eq(
  $$select g.title from logloom.error_groups g
    where g.tenant_id = 'acme' and g.state = 'open' order by 1$$,
  array['Errors beyond the limit of the plan', 'Old'],
  'groups that were not seen for 14 days are resolved'
);

-- Merged groups count as one, also what comes later.
select is(
  pg_temp.change(
    'Five|Six',
    $$p_merge_into => (select g.fingerprint from public.list_error_groups() g
      where g.title = 'Old')$$
  ),
  'accepted', 'merged'
);
select pg_temp.error('13:03', 'Six', p_user_id => 'u9');
select pg_temp.step('13:04');
select results_eq(
  $$select g from pg_temp.groups('13:04') g where g ~ 'Five|Six|Old'$$,
  array[
    'web | Five | resolved | 0 | 0 | 12:24-12:30',
    'web | Old | regressed | 15 | 1 | 12:24-13:03 | 1.1 | 1.3',
    'web | Six | resolved | 0 | 0 | 12:24-12:24'
  ],
  'the records of merged groups are counted in the other'
);
select is(
  (select sum(c.records)::integer from logloom_private.error_counts c
    join logloom.error_groups g using (tenant_id, fingerprint)
    where g.title = 'Old' and c.is_day),
  15, 'also by day'
);

-- A deletion subtracts what it removes, and nothing that was not counted.
select pg_temp.error('13:05', 'Old');
insert into logloom.retention_runs (
  tenant_id, kind, status, requested_by, query_dsl, ts_from, ts_to, requested_at
)
values (
  'acme', 'erasure', 'queued', 'owner', 'msg:Old -service:api', pg_temp.at('12:44'),
  pg_temp.at('14:00'), now()
);
select pg_temp.repeat_while(format('logloom_private.deletion_step(%L)', r.run_id))
from logloom.retention_runs r
where r.kind = 'erasure';
select results_eq(
  $$select g from pg_temp.groups('13:04') g where g ~ 'Old'$$,
  array['web | Old | regressed | 7 | 1 | 12:24-13:03 | 1.1 | 1.3'],
  'a deletion lowers the counts by the counted records'
);
select pg_temp.step('13:06');
select is(
  (select g.records::integer from logloom.error_groups g where g.title = 'Old'), 7,
  'what was deleted before it was counted is not counted'
);
update logloom.retention_runs
set query_dsl = 'Disk', ts_from = pg_temp.at('12:00'), position_ts = null, position_id = null,
  position_block = null, status = 'queued';
select pg_temp.repeat_while(format('logloom_private.deletion_step(%L)', r.run_id))
from logloom.retention_runs r
where r.kind = 'erasure';
select results_eq(
  $$select g.title, g.records::integer, cardinality(g.users) from logloom.error_groups g
    where g.service = 'api' order by g.records$$,
  $$values (null::text, 0, 0), ('Order <*> failed for <*>', 1, 0)$$,
  'a group whose records are all gone has no title'
);
-- A record of before the resolution has a later release: it does not count.
select pg_temp.error('13:10', 'Late', p_attrs => '{"release": "2.0"}');
select pg_temp.step('13:11');
select pg_temp.change('Late', $$p_state => 'resolved', p_release => '2.0'$$) \g /dev/null
update logloom.error_groups set resolved_at = pg_temp.at('13:20') where title = 'Late';
select pg_temp.error('13:15', 'Late', p_attrs => '{"release": "2.1"}');
select pg_temp.error('13:21', 'Late', p_attrs => '{"release": "2.0"}');
select pg_temp.step('13:22');
select is(
  pg_temp.state_of('Late'), 'resolved 3', 'only releases of records after the resolution count'
);

alter table logloom.error_groups add constraint no_poison check (title <> 'Poison');
select pg_temp.error('13:30', 'Poison');
select pg_temp.error('13:30', 'Fine', p_tenant_id => 'umbrella');
select pg_temp.step('13:31');
select results_eq(
  $$select g.title from logloom.error_groups g where g.title in ('Poison', 'Fine')
    union all
    select j.last_error from logloom_private.jobs j where j.name = 'group_errors'$$,
  array[
    'Fine',
    '23514: new row for relation "error_groups" violates check constraint "no_poison"'
  ],
  'what cannot be counted stops no other tenant'
);
select * from finish();
rollback;
