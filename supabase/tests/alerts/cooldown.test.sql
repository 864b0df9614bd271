begin;
\ir rounds.psql
select plan(7);

select pg_temp.rule('ts:*', 'gte', 0, 1, 5, 'five') \g /dev/null
select pg_temp.rule('ts:*', 'gte', 0, 1, 0, 'always') \g /dev/null
select pg_temp.rule('wanted', 'gte', 1, 1, 3, 'three') \g /dev/null

select pg_temp.round('12:00:00') \g /dev/null
select is(pg_temp.round('12:04:59.999999', '7 seconds'), 4,
  'before the cooldown is over, the rule without one fires for each window');
select results_eq(
  $$select * from pg_temp.fired('five')$$, array['12:00 0'], 'and the rule with one does not'
);
select is(pg_temp.round('12:05:00', '1 second'), 2, 'when it is over, to the second, both do');
select results_eq(
  $$select * from pg_temp.fired('five')$$, array['12:00 0', '12:05 0'],
  'whatever the time that the rounds took'
);
select pg_temp.round('12:20') \g /dev/null
select results_eq(
  $$select * from pg_temp.fired('five')$$,
  array['12:00 0', '12:05 0', '12:10 0', '12:15 0', '12:20 0'],
  'windows that are caught up with keep the cooldown'
);

select pg_temp.arrive('12:22:30', 'wanted');
select pg_temp.round('12:23') \g /dev/null
select pg_temp.arrive('12:21:30', 'wanted');
select pg_temp.round('12:24') \g /dev/null
select results_eq(
  $$select * from pg_temp.fired('three')$$, array['12:23 1'],
  'a late record makes no earlier window fire within the cooldown of a later one'
);
update logloom.alert_rules set cooldown_minutes = 0 where name = 'three';
select pg_temp.arrive('12:22:50', 'wanted');
select pg_temp.arrive('12:23:50', 'wanted');
select pg_temp.round('12:25') \g /dev/null
select results_eq(
  $$select * from pg_temp.fired('three')$$, array['12:23 1', '12:24 1'],
  'without a cooldown each window fires for itself, once'
);

select * from finish();
rollback;
