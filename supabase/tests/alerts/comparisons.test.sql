begin;
\ir rounds.psql
select plan(4);

select pg_temp.rule('ts:*', c.comparison, t.threshold, p_name => c.comparison || ' ' || t.threshold)
from unnest(array['gt', 'gte', 'lt', 'lte', 'eq', 'neq']) c (comparison)
cross join unnest(array[2, 3, 4]) t (threshold) \g /dev/null
select pg_temp.arrive('11:58', p_count => 3);

select is(pg_temp.round('12:00:01'), 9, 'a count of 3 fires half of the rules');
select is(
  pg_temp.fired(),
  '{12:00 eq 3 3,12:00 gt 2 3,12:00 gte 2 3,12:00 gte 3 3,12:00 lt 4 3,12:00 lte 3 3,
    12:00 lte 4 3,12:00 neq 2 3,12:00 neq 4 3}',
  'each comparison at the threshold, below and above it'
);
select results_eq(
  $$select distinct h.value, h.window_start, h.window_end, h.triggered_at, h.threshold
    from logloom.alert_history h join logloom.alert_rules r using (rule_id) where r.name = 'eq 3'$$,
  $$values (
    3::double precision, pg_temp.at('11:55'), pg_temp.at('12:00'), pg_temp.at('12:00:07'),
    3::double precision
  )$$,
  'an alert has its window and time'
);
select is(
  (
    select count(*)::integer from logloom.alert_rules r
    where r.last_value = 3 and r.last_error is null and r.last_evaluated_at = pg_temp.at('12:00')
  ),
  18,
  'every rule shows its value, whether it fired or not'
);

select * from finish();
rollback;
