begin;
\ir rounds.psql
select plan(15);

select pg_temp.rule(q.query_dsl, 'gte', -1000, 10) from unnest(array[
  'level:error', 'level:error | rate()', 'level:error | count()', 'level:error | sum(attrs.ms)',
  'level:error | avg(attrs.ms)', 'level:error | min(attrs.ms)', 'level:error | max(attrs.ms)',
  'level:error | p50(attrs.ms)', 'level:error | p95(attrs.ms)',
  'level:error | count_distinct(attrs.ms)', 'level:error ts:>now-5m'
]) q (query_dsl) \g /dev/null

select is(pg_temp.round('12:00'), 6, 'without records a rule fires if its aggregate has a value');
select is(
  pg_temp.fired(),
  '{12:00 level:error 0,12:00 level:error ts:>now-5m 0,12:00 level:error | count() 0,
    12:00 level:error | count_distinct(attrs.ms) 0,12:00 level:error | rate() 0,
    12:00 level:error | sum(attrs.ms) 0}',
  'no data fires nothing'
);
select is(
  (select last_value from logloom.alert_rules where query_dsl like '%avg%'), null,
  'no data is shown as null'
);

select pg_temp.arrive('12:00:30', p_attrs => '{"ms": 10}', p_level => 'error');
select pg_temp.arrive('12:00:40', p_attrs => '{"ms": -2.5}', p_level => 'error');
select pg_temp.arrive('12:00:45', p_attrs => '{"ms": 1000}', p_level => 'info');
select pg_temp.arrive(
  '12:00:50', p_attrs => '{"ms": 7}', p_tenant_id => 'umbrella', p_level => 'error'
);
select pg_temp.round('12:01') \g /dev/null
select pg_temp.arrive('12:07:10', p_attrs => '{"ms": 10}', p_level => 'error');
select pg_temp.arrive('12:07:20', p_attrs => '{"ms": "40"}', p_level => 'error');
select pg_temp.round('12:08') \g /dev/null
-- A late record arrives in a minute that has partial values already.
select pg_temp.arrive('12:07:30', p_attrs => '{"ms": 0.5}', p_level => 'error');
select pg_temp.arrive('12:08:30', p_level => 'error');
select is(pg_temp.round('12:09') > 0, true, 'a round after several');

select is(r.last_value, v.value, v.name)
from (
  values
    ('level:error', 6::double precision, 'records without an aggregate'),
    ('level:error | count()', 6, 'count'),
    ('level:error | rate()', 0.6, 'rate is per minute of the window'),
    ('level:error | sum(attrs.ms)', 58, 'sum'),
    ('level:error | avg(attrs.ms)', 11.6, 'avg, of numbers and texts that are numbers'),
    ('level:error | min(attrs.ms)', -2.5, 'min'),
    ('level:error | max(attrs.ms)', 40, 'max'),
    ('level:error | p50(attrs.ms)', 10, 'p50'),
    ('level:error | count_distinct(attrs.ms)', 4, 'count_distinct'),
    ('level:error ts:>now-5m', 4, 'now is the end of the window')
) v (query_dsl, value, name)
join logloom.alert_rules r on r.query_dsl = v.query_dsl;

select is(
  (select array_agg(g.filter is not null order by r.query_dsl collate "C")
    from logloom_private.planned_alert_rules r
    join logloom_private.alert_groups g using (group_id)),
  '{t,f,t,t,f,t,t,f,f,t,t}',
  'percentiles, distinct counts and now have no partial values'
);

select * from finish();
rollback;
