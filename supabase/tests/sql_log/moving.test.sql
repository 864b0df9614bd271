-- Committed records of logloom.log() reach the queue exactly once, each tenant in turn.
begin;
set local timezone = 'UTC';
\ir ../actors.psql
\ir ../alerts/rounds.psql
select plan(14);

update logloom_private.settings set provision_by_secret_key = false;
insert into logloom.tenants (tenant_id, plan_id) values ('globex', 'free');
create function pg_temp.logged(
  p_tenant_id text, p_records integer default 1, p_ts timestamptz default now(),
  p_bytes integer default 100
)
returns void
language sql
as $$
  insert into logloom_private.sql_log (tenant_id, creates_tenant, bytes, record)
  select p_tenant_id, p_tenant_id = 'new', p_bytes,
    row(p_ts, 'warn', 'x', null, null, null, null, null, null, null)::logloom_private.own_record
  from generate_series(1, p_records)
$$;
-- Runs a step. The test logs and moves in one transaction, which a place does not expect.
create function pg_temp.step() returns interval language plpgsql as $$
begin
  update logloom_private.sql_log_place set xact_from = least(xact_from, pg_current_xact_id());
  return logloom_private.move_sql_log();
end;
$$;
-- The batches of the queue, and the rows that wait.
create function pg_temp.places() returns text[] language sql as $$
  select array[
    (select string_agg(q.tenant_id || ' ' || q.events, ', ' order by q.batch_id)
      from logloom_private.queue q),
    (select string_agg(w.tenant_id || ' ' || w.count, ', ' order by w.tenant_id)
      from (select l.tenant_id, count(*) from logloom_private.sql_log l group by 1) w)
  ]
$$;

select pg_temp.logged('acme', 2);
savepoint s;
select pg_temp.step() \g /dev/null
rollback to savepoint s;
select is(pg_temp.places(), '{null,acme 2}', 'if a step is killed, the records wait');
select pg_temp.step() from generate_series(1, 2) \g /dev/null
select is(pg_temp.places(), '{acme 2,null}', 'the next one moves them, each once');

delete from logloom_private.queue;
select pg_temp.logged('acme', 6000), pg_temp.logged('umbrella', 3) \g /dev/null
select pg_temp.step() from generate_series(1, 2) \g /dev/null
select is(
  pg_temp.places(), '{"acme 4997, umbrella 3, acme 1003",null}',
  'the first step has the records of a tenant that logged after 6,000 of another'
);
delete from logloom_private.queue;
select pg_temp.logged('acme', 3, p_bytes => 4 << 20), pg_temp.step() \g /dev/null
select is(pg_temp.places(), '{acme 1,acme 2}', 'large records take several steps');
delete from logloom_private.sql_log;

delete from logloom_private.queue;
update logloom.plans set monthly_events_limit = 0 where plan_id = 'pro';
alter table logloom_private.queue add constraint no_globex check (tenant_id <> 'globex');
select pg_temp.logged('acme', 2), pg_temp.logged('globex'), pg_temp.logged('nobody'),
  pg_temp.logged('new', 4), pg_temp.step()
\g /dev/null
select is(
  pg_temp.places() || (select refused::text from logloom.usage_days where tenant_id = 'acme'),
  '{new 4,globex 1,2}',
  'records over a limit are refused and counted, those that cannot be stored wait, others go on'
);
update logloom_private.settings set queue_hard_limit_bytes = 8192;
select throws_ok('select pg_temp.step()', 'PGRST', null, 'if the queue is full, all wait');

-- A record that is committed late counts in the window of its time, within the grace.
delete from logloom_private.queue;
delete from logloom_private.sql_log;
update logloom_private.settings set queue_hard_limit_bytes = null;
update logloom.plans
set monthly_events_limit = 100000, retention_days_default = 3650, retention_days_max = 3650
where plan_id = 'pro';
select pg_temp.rule('level:warn', 'gte', 1, 1, p_name => 'late'), pg_temp.round('12:08'),
  pg_temp.logged('acme', 1, pg_temp.at('12:07:59'))
\g /dev/null
-- The database was restored from a dump, whose transactions have higher numbers.
update logloom_private.sql_log_place
set xact_from = '9000000000000000000', open_xacts = '{8999999999999999999}';
select logloom_private.move_sql_log() \g /dev/null
select is(pg_temp.places(), '{acme 1,null}', 'after a restore all rows are found');
select logloom_private.flip_queue(), logloom_private.write_step(), pg_temp.round('12:09')
\g /dev/null
select is(
  pg_temp.fired('late'), '{12:08 1}',
  'a record that becomes visible after its window still counts in it'
);

-- A transaction logs at 12:09:30 and commits at 12:19. Windows from 12:11 on fired in time.
create function pg_temp.incidents() returns setof text language sql as $$
  select concat_ws(
    ' ', i.rule_name, i.fired_count || 'x', to_char(i.held_until, 'HH24:MI'),
    to_char(i.resolved_at, 'HH24:MI')
  )
  from logloom.alert_incidents i
  where i.rule_name in ('by', 'in time')
  order by i.rule_name
$$;
select pg_temp.rule('level:warn | count() by level', 'gte', 1, 2, 0, 'by'),
  pg_temp.rule('level:warn', 'gte', 1, 1, 0, 'lasting'),
  pg_temp.rule('level:info', 'gte', 1, 1, 0, 'in time'), pg_temp.round('12:10')
\g /dev/null
update logloom.alert_rules set for_minutes = 1 where name = 'lasting';
select pg_temp.arrive('12:10:30', p_level => 'warn'), pg_temp.arrive('12:10:30') \g /dev/null
select pg_temp.round(t) from unnest(array['12:11', '12:12', '12:13', '12:18', '12:19']) t
\g /dev/null
select is(
  pg_temp.fired(), '{12:08 late 1,12:11 by 1,12:11 in time 1,12:11 late 1,12:12 by 1}',
  'an open transaction keeps no rule from firing'
);
delete from logloom_private.late_sql_logs;
select pg_temp.logged('acme', 2, pg_temp.at('12:09:30')), pg_temp.step() \g /dev/null
update logloom_private.late_sql_logs set noted_at = pg_temp.at('12:20');
select pg_temp.round('12:20') \g /dev/null
select logloom_private.flip_queue(), logloom_private.write_step() \g /dev/null
select pg_temp.round(t) from unnest(array['12:21', '12:22']) t \g /dev/null
select is(
  pg_temp.fired(),
  '{12:08 late 1,12:10 by 2,12:10 late 2,12:11 by 1,12:11 in time 1,12:11 lasting 1,12:11 late 1,
    12:12 by 1}',
  'once it has committed, its windows are evaluated again, and each fires once'
);
select results_eq(
  'select * from pg_temp.incidents()', array['by 3x 12:12 12:21', 'in time 1x 12:11 12:12'],
  'what had recovered and does not count them stays as it was'
);
select is_empty(
  'select from logloom_private.late_sql_logs union all
    select from logloom_private.alert_plans where reopened_from is not null',
  'all of this happens once'
);

-- Reading the windows again costs more than a rule may cost.
select pg_temp.arrive('12:22:30'), pg_temp.round('12:23') \g /dev/null
insert into logloom_private.late_sql_logs
values ('acme', pg_temp.at('12:23'), pg_temp.at('12:09:30'));
select pg_temp.arrive('12:09:40', p_count => 100), pg_temp.arrive('12:23:30', p_level => 'warn')
\g /dev/null
update logloom_private.settings set alert_rule_records = 20;
select pg_temp.round('12:24') \g /dev/null
select results_eq(
  $$select max(h.window_end), r.last_error from logloom.alert_rules r
    join logloom.alert_history h using (rule_id) where r.name = 'late' group by 2$$,
  $$values (pg_temp.at('12:24'), null::text)$$, 'late records pause no rule'
);

-- No window costs more than a rule may cost, but all of them together do.
select pg_temp.arrive('12:' || m || ':30', p_count => 9), pg_temp.round('12:' || m + 1)
from generate_series(31, 34) m \g /dev/null
insert into logloom_private.late_sql_logs
values ('acme', pg_temp.at('12:35'), pg_temp.at('12:31:40'));
select pg_temp.arrive('12:31:40', p_level => 'warn'), pg_temp.round('12:36') \g /dev/null
select is(
  (
    select row(to_char(r.last_evaluated_at, 'HH24:MI'), r.last_error, p.reopened_from,
      (select max(f) from unnest(pg_temp.fired('by')) f))::text
    from logloom.alert_rules r join logloom_private.alert_plans p using (rule_id)
    where r.name = 'by'
  ),
  '(12:36,,,"12:25 1")', 'the windows of late records share one budget'
);

select * from finish();
rollback;
