begin;
\ir rounds.psql
select plan(18);

create function pg_temp.state(p_name text)
returns text
language sql
as $$
  select concat_ws(
    ' ', to_char(r.last_evaluated_at at time zone 'UTC', 'HH24:MI'), r.last_value,
    regexp_replace(r.last_error, '[0-9]+ records took [0-9]+ ms', 'n records took n ms')
  )
  from logloom.alert_rules r where r.name = p_name
$$;

-- One tenant has expensive rules, the other does not. The budget in records decides, so the
-- machine's speed does not matter.
update logloom_private.settings set alert_rule_records = 100;
select pg_temp.rule('common', 'gte', 1, 10, p_name => 'costly', p_tenant_id => 'umbrella')
\g /dev/null
select pg_temp.rule('common | p50(attrs.ms)', 'gte', 1, 10, p_name => 'costly scan',
  p_tenant_id => 'umbrella') \g /dev/null
select pg_temp.rule('cheap', 'gte', 1, 10, p_name => 'cheap') \g /dev/null
select pg_temp.arrive('11:58', 'common', '{"ms": 1}', p_tenant_id => 'umbrella', p_count => 2000);
select pg_temp.arrive('11:58', 'cheap');

select is(pg_temp.round('12:00'), 1, 'the cheap rule fires');
select is(pg_temp.fired(), '{12:00 cheap 1}', 'as it should');
select is(
  pg_temp.state('costly'),
  '12:00 The rule is too expensive: n records took n ms. Narrow its query or shorten its window; '
    || 'it is paused for a while.',
  'a rule that exceeds its budget says so'
);
select is(
  pg_temp.state('costly scan'), pg_temp.state('costly'), 'so does a rule that reads its windows'
);
select is_empty(
  $$select from logloom_private.alert_groups g
    where g.tenant_id = 'umbrella' and (g.write_seq is not null or g.records_read > 0)$$,
  'what it has read is discarded'
);

select pg_temp.arrive('12:00:30', 'cheap');
select is(pg_temp.round('12:01'), 1, 'the next round is not delayed');
select is(
  (select array_agg(failures) from logloom_private.alert_groups where tenant_id = 'umbrella'),
  '{1,1}', 'both are paused in it'
);
select is(
  (select array_agg(retry_at) from logloom_private.alert_groups where tenant_id = 'umbrella'),
  array_fill(pg_temp.at('12:05:06'), '{2}'), 'for five minutes'
);
select is(
  left(pg_temp.state('costly scan'), 32), '12:01 The rule is too expensive:',
  'which they still say'
);
select pg_temp.round('12:06') \g /dev/null
select is(
  (select array_agg(retry_at) from logloom_private.alert_groups where tenant_id = 'umbrella'),
  array_fill(pg_temp.at('12:16:06'), '{2}'), 'the second time for ten'
);
update logloom_private.alert_groups set failures = 9 where tenant_id = 'umbrella';
update logloom_private.settings set alert_rule_records = 2000000;
select pg_temp.round('12:17') \g /dev/null
select is(
  array[pg_temp.state('costly'), pg_temp.state('costly scan')], '{12:17 0,12:17}',
  'a rule that became cheaper is evaluated again'
);

-- New records can be too expensive, too.
update logloom_private.settings set alert_rule_records = 6000;
select pg_temp.arrive('12:17:30', 'common', p_tenant_id => 'umbrella', p_count => 12000);
select pg_temp.arrive('12:17:30', 'cheap');
select pg_temp.round('12:18') \g /dev/null
select matches(
  pg_temp.state('costly'), '^12:18 The rule is too expensive: n records',
  'more new records than a rule may read'
);
select is(pg_temp.state('cheap'), '12:18 1', 'do not delay other rules');

-- A group's first count takes many turns. Each of them continues where the last one stopped.
update logloom_private.settings set alert_rule_budget = '0';
delete from logloom.alert_rules where tenant_id = 'umbrella';
select pg_temp.rule('common level:info', 'gte', 1, 10, p_name => 'long',
  p_tenant_id => 'umbrella') \g /dev/null
update logloom_private.settings set alert_rule_records = 2000000;
create temp table round as
select logloom_private.begin_alert_round(pg_temp.at('12:19:06'), pg_temp.at('12:19')) as round;
update logloom_private.alert_rounds r set finished_at = pg_temp.at('12:19:06') where r.singleton;
select logloom_private.read_alert_windows(round, pg_temp.at('12:19:06')) from round \g /dev/null
select logloom_private.read_alert_windows(round, pg_temp.at('12:19:06')) from round \g /dev/null
select is(
  (select array[write_seq = (round).write_seq_to, records_read = 16, filled_id is not null]
    from logloom_private.alert_groups, round
    where tenant_id = 'umbrella' and filter like '%info%'),
  '{t,t,t}', 'a turn reads a piece and remembers its position'
);
select is(pg_temp.state('long'), '', 'an incomplete value is not shown');
select pg_temp.rule('cheap', 'gte', 9, 10, p_name => 'another') \g /dev/null
create temp table turns as
select logloom_private.read_alert_windows(round, pg_temp.at('12:19:06')) as fired
from round, generate_series(1, 800);
select is(pg_temp.state('another'), '12:19 1', 'other rules have turns in between');
select is(pg_temp.state('long'), '12:19 12000', 'finally every record is counted once');
select ok(
  (select count(*) > 10 from turns where fired is not null),
  'after many turns'
);

select * from finish();
rollback;
