begin;
\ir rounds.psql
select plan(10);

create function pg_temp.groups(p_name text)
returns text[]
language sql
return array(
  select to_char(h.window_end at time zone 'UTC', 'HH24:MI')
    || ' ' || (h."group" ->> 'level') || ' '
    || h.value
  from logloom.alert_history h
  join logloom.alert_rules r on r.rule_id = h.rule_id
  where r.name = p_name
  order by h.window_end, h."group" ->> 'level' collate "C"
);

select pg_temp.rule('ts:* | count() by level', 'gte', 2, 1, 3, 'levels') \g /dev/null
select pg_temp.rule('ts:* | count() by attrs.n', 'gt', 0, 1, 0, 'many') \g /dev/null
select pg_temp.arrive('12:00:10', 'a', null, 'error', 'acme', 3);
select pg_temp.arrive('12:00:20', 'b', null, 'info', 'acme', 2);
select pg_temp.arrive('12:00:30', 'c', null, 'warn');
select pg_temp.round('12:01') \g /dev/null
select is(
  pg_temp.groups('levels'), '{12:01 error 3,12:01 info 2}',
  'a rule with by fires for each group that meets the condition'
);
select is(
  (select r.last_value from logloom.alert_rules r where r.name = 'levels'), 3::double precision,
  'its last value is the highest'
);

select pg_temp.arrive('12:02:10', 'd', null, 'warn', 'acme', 4);
select pg_temp.arrive('12:02:20', 'e', null, 'error', 'acme', 4);
select pg_temp.round('12:03') \g /dev/null
select is(
  pg_temp.groups('levels'), '{12:01 error 3,12:01 info 2,12:03 warn 4}',
  'each group has its cooldown, and a group without records does not fire'
);
select is(
  (select r.last_evaluated_at from logloom.alert_rules r where r.name = 'levels'),
  pg_temp.at('12:03'), 'the rule was evaluated'
);

select pg_temp.round('12:10') \g /dev/null
select is(
  (select r.last_evaluated_at from logloom.alert_rules r where r.name = 'levels'),
  pg_temp.at('12:10'), 'even without records'
);

select pg_temp.arrive('12:10:30', 'f', jsonb_build_object('n', n)) from generate_series(1, 50) n;
select pg_temp.round('12:11') \g /dev/null
select is(
  (select count(*) from logloom.alert_history h join logloom.alert_rules r using (rule_id)
    where r.name = 'many' and h.window_end = pg_temp.at('12:11')), 50::bigint,
  'fifty groups fire'
);
select pg_temp.arrive('12:11:30', 'f', jsonb_build_object('n', n)) from generate_series(1, 51) n;
select pg_temp.round('12:12') \g /dev/null
select is(
  (select r.last_error from logloom.alert_rules r where r.name = 'many'),
  'The rule found more than 50 groups: narrow the filter, or group by another field',
  'fifty-one groups are an error'
);
select is(
  (select count(*) from logloom.alert_history h join logloom.alert_rules r using (rule_id)
    where r.name = 'many' and h.window_end = pg_temp.at('12:12')), 0::bigint,
  'and no group fires'
);
select pg_temp.arrive('12:12:30', 'g', jsonb_build_object('n', repeat('x', 1009)));
select pg_temp.round('12:13') \g /dev/null
select is(
  (select array[r.last_value::text, r.last_error] from logloom.alert_rules r
    where r.name = 'many'),
  '{1,NULL}', 'a group of 1024 bytes fires'
);
select pg_temp.arrive('12:13:20', 'h', '{"n": 1}');
select pg_temp.arrive('12:13:30', 'h', jsonb_build_object('n', repeat('x', 1010)));
select pg_temp.round('12:14') \g /dev/null
select results_eq(
  $$select r.last_error, (select max(h.window_end) from logloom.alert_history h
      where h.rule_id = r.rule_id) from logloom.alert_rules r where r.name = 'many'$$,
  $$values (
    'The rule found a group of more than 1024 bytes: group by another field', pg_temp.at('12:13')
  )$$,
  'a longer group is an error, and no group fires'
);

select * from finish();
rollback;
