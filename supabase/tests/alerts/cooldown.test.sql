begin;
\ir rounds.psql
select plan(7);

select pg_temp.rule('ts:*', 'gte', 0, 1, 5, 'five') \g /dev/null
select pg_temp.rule('ts:*', 'gte', 0, 1, 0, 'always') \g /dev/null
select pg_temp.rule('wanted', 'gte', 1, 1, 3, 'three') \g /dev/null

select pg_temp.round('12:00:00') \g /dev/null
select is(pg_temp.round('12:04:59.999999', '7 seconds'), 4,
  'a rule without cooldown fires for each window');
select is(pg_temp.fired('five'), '{12:00 0}', 'a rule in its cooldown does not fire');
select is(
  pg_temp.round('12:05:00', '1 second'), 2, 'when the cooldown is over, to the second, both fire'
);
select is(pg_temp.fired('five'), '{12:00 0,12:05 0}', 'however long the rounds took');
select pg_temp.round('12:20') \g /dev/null
select is(
  pg_temp.fired('five'), '{12:00 0,12:05 0,12:10 0,12:15 0,12:20 0}',
  'late evaluated windows respect the cooldown'
);

select pg_temp.arrive('12:22:30', 'wanted');
select pg_temp.round('12:23') \g /dev/null
select pg_temp.arrive('12:21:30', 'wanted');
select pg_temp.round('12:24') \g /dev/null
select is(
  pg_temp.fired('three'), '{12:23 1}',
  'a late record fires no earlier window within the cooldown of a later one'
);
update logloom.alert_rules set cooldown_minutes = 0 where name = 'three';
select pg_temp.arrive('12:22:50', 'wanted');
select pg_temp.arrive('12:23:50', 'wanted');
select pg_temp.round('12:25') \g /dev/null
select is(pg_temp.fired('three'), '{12:23 1,12:24 1}', 'without cooldown each window fires once');

select * from finish();
rollback;
