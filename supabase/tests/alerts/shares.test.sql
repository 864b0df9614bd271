begin;
\ir rounds.psql
select plan(10);

select pg_temp.rule(q.query_dsl, 'gte', 25, 5, p_name => q.name) from (
  values
    ('share', '* | count() if (level:error) as e, count() as n | math e / n * 100 as share'),
    ('last', '* | count() as n, max(@ms) if (level:error) as worst'),
    ('condition', '* | count() if (level:error)'),
    ('percentile', '* | p50(@ms) if (level:error) as slow, count() as n | math slow + n * 0 as v'),
    ('by host',
      '* | count() if (level:error) as e, count() as n by @host | math e / n * 100 as share')
) q (name, query_dsl) \g /dev/null

select is(pg_temp.round('12:00'), 0, 'without records a share is null and fires nothing');

select pg_temp.arrive('12:00:10', p_attrs => '{"ms": 30, "host": "a"}', p_level => 'error');
select pg_temp.arrive('12:00:20', p_attrs => '{"ms": 90, "host": "a"}', p_count => 2);
select pg_temp.arrive('12:00:30', p_attrs => '{"ms": 50, "host": "b"}', p_level => 'error');
select pg_temp.arrive('12:00:40', p_attrs => '{"host": "c"}', p_count => 4);
select is(pg_temp.round('12:01'), 5, 'one alert of each rule, and one of each group');
select set_eq(
  'select unnest(pg_temp.fired())',
  array[
    '12:01 by host 33.3333333333333', '12:01 by host 100', '12:01 last 50', '12:01 percentile 40',
    '12:01 share 25'
  ],
  'a rule compares the last result'
);
select is(
  (select array_agg(g.parts is not null order by r.rule_name collate "C")
    from (
      select p.group_id, a.name as rule_name
      from logloom_private.planned_alert_rules p
      join logloom.alert_rules a using (rule_id)
    ) r
    join logloom_private.alert_groups g using (group_id)),
  '{f,t,t,f,t}',
  'shares have partial values, percentiles and groups read their windows'
);
select is(
  (select r.last_value from logloom.alert_rules r where r.name = 'condition'), 2::double precision,
  'a condition counts'
);

-- Nothing arrives any more: the window of 12:06 is empty.
select is(pg_temp.round('12:05'), 20, 'each window until the records are too old');
select is(pg_temp.round('12:07'), 0, 'a share without records does not fire');
select set_eq(
  $$select i.rule_name, i.resolved_at is null from logloom.alert_incidents i$$,
  $$values ('share', true), ('percentile', true), ('by host', true), ('last', false)$$,
  'nor does it resolve, as an aggregate without records does'
);

select pg_temp.arrive('12:07:10', p_attrs => '{"ms": 1, "host": "b"}', p_count => 4);
select is(pg_temp.round('12:08'), 0, 'records without errors');
select results_eq(
  $$select i.rule_name, i."group", i.resolved_at is null from logloom.alert_incidents i
    where i.resolved_at is null order by 1, 2$$,
  $$values
    ('by host', '{"@host": "a"}'::jsonb, true), ('percentile', null, true)$$,
  'a share of 0 ends the incident of its group'
);

select * from finish();
rollback;
