begin;
\ir rounds.psql
select plan(16);

-- Computes the value of a window from its records.
create function pg_temp.window_value(
  p_tenant_id text,
  p_filter text,
  p_aggregate text,
  p_aggregate_sql text,
  p_window_start timestamptz,
  p_window_end timestamptz
)
returns double precision
language plpgsql
stable
as $$
declare
  v_value double precision;
begin
  execute 'select ' || p_aggregate_sql
    || ' from logloom.logs l where l.tenant_id = $1 and l.ts >= $2 and l.ts < $3 and ('
    || p_filter || ')'
  into v_value
  using p_tenant_id, p_window_start, p_window_end;
  if p_aggregate = 'rate' then
    return v_value * 60 / extract(epoch from p_window_end - p_window_start)::double precision;
  end if;
  return v_value;
end;
$$;

select pg_temp.rule(q.query_dsl, 'gte', -1000, 10) from unnest(array[
  'level:error', 'level:error | rate()', 'level:error | count()', 'level:error | sum(attrs.ms)',
  'level:error | avg(attrs.ms)', 'level:error | min(attrs.ms)', 'level:error | max(attrs.ms)',
  'level:error | p50(attrs.ms)', 'level:error | p95(attrs.ms)',
  'level:error | count_distinct(attrs.ms)', 'level:error ts:>now-5m'
]) q (query_dsl) \g /dev/null

select is(pg_temp.round('12:00'), 6, 'without records a rule fires if its aggregate has a value');
select results_eq(
  'select * from pg_temp.fired()',
  array[
    '12:00 level:error 0', '12:00 level:error ts:>now-5m 0', '12:00 level:error | count() 0',
    '12:00 level:error | count_distinct(attrs.ms) 0', '12:00 level:error | rate() 0',
    '12:00 level:error | sum(attrs.ms) 0'
  ],
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

-- Partial values give the same values as the records.
select is_empty(
  $$select r.query_dsl, r.last_value, v.value
    from logloom.alert_rules r
    cross join logloom_private.compile_query(r.query_dsl) q
    cross join pg_temp.window_value(
      r.tenant_id, q.filter, coalesce(q.aggregate, 'count'),
      coalesce(q.aggregate_sql, 'count(*)::double precision'),
      pg_temp.at('11:59'), pg_temp.at('12:09')
    ) v (value)
    where r.last_value is distinct from v.value and not q.names_now$$,
  'every value equals the value from the records'
);

select * from finish();
rollback;
