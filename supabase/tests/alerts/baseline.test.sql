begin;
\ir rounds.psql
\ir ../actors.psql
select plan(42);

create function pg_temp.baseline_rule(
  p_query_dsl text, p_name text, p_comparison text default 'gt', p_days integer default 7
)
returns uuid
language plpgsql
as $$
declare
  v_rule_id constant uuid :=
    pg_temp.rule(p_query_dsl, p_comparison, 4, p_window_minutes => 1, p_name => p_name);
begin
  update logloom.alert_rules r set baseline_days = p_days where r.rule_id = v_rule_id;
  return v_rule_id;
end;
$$;

-- The values of a rule at a time of the days before, the last day first.
create function pg_temp.past(
  p_name text, p_time text, p_values double precision[], p_others double precision default null,
  p_group jsonb default null
)
returns void
language sql
as $$
  insert into logloom_private.rule_values (rule_id, window_end, values, others)
  select
    r.rule_id, pg_temp.at(p_time) - make_interval(days => v.n::integer),
    case when v.value is null then '{}'
      else jsonb_build_object(logloom_private.group_key(p_group), v.value) end,
    p_others
  from logloom.alert_rules r, unnest(p_values) with ordinality v (value, n)
  where r.name = p_name
$$;

create function pg_temp.told()
returns setof text
language sql
as $$
  select concat_ws(
    ' ', to_char(h.window_end at time zone 'UTC', 'HH24:MI'), r.name, h."group" ->> '@host',
    h.value, 'against', round(h.threshold::numeric, 3)
  )
  from logloom.alert_history h
  join logloom.alert_rules r on r.rule_id = h.rule_id
  order by 1
$$;

select results_eq(
  $$select b.usual, round(b.threshold::numeric, 3)
    from (
      values
        (1, '{100,140,60}'::double precision[], 'gt'), (2, '{100,140,60}', 'lte'),
        (3, '{100,101,99}', 'gte'), (4, '{0,0,0,0}', 'gt'), (5, '{0.5,0.5,0.5}', 'gt'),
        (6, '{-5,-6,-7}', 'gt'), (7, '{1,2,3,null,100}', 'gt'), (8, '{1,2,null,null}', 'gt'),
        (9, null, 'gt')
    ) v (n, kept, comparison)
    cross join logloom_private.usual_band(v.kept, v.comparison, 4) b
    order by v.n$$,
  $$values
    (100::double precision, 337.216), (100, -137.216), (100, 140), (0, 4), (0.5, 4.5),
    (-6, -0.070), (2.5, 8.825), (null, null), (null, null)$$,
  'the threshold is four deviations away from the median'
);

select pg_temp.baseline_rule('level:error', 'errors') \g /dev/null
select pg_temp.baseline_rule('*', 'few', 'lt') \g /dev/null
select pg_temp.baseline_rule('level:error', 'new', p_days => 3) \g /dev/null
select pg_temp.baseline_rule('level:error | count() by @host', 'hosts') \g /dev/null
select pg_temp.baseline_rule(
  '* | count() if (level:error) as e, count() as n | math e / n * 100 as share', 'share'
) \g /dev/null
select pg_temp.past('errors', '12:00', '{2,0,1,0,1,0,0}');
select pg_temp.past('few', '12:00', '{400,410,390}');
select pg_temp.past('new', '12:00', '{0,0}');
select pg_temp.past('hosts', '12:00', '{0,0,0}', 0);
select pg_temp.past('share', '12:00', '{2,2.5,3}');

select pg_temp.arrive('12:00:10', p_attrs => '{"host": "a"}', p_level => 'error', p_count => 4);
select pg_temp.arrive('12:00:20', p_count => 316);
select is(pg_temp.round('12:01'), 0, 'nothing unusual: 320 records, 4 errors');
select is(pg_temp.round('12:02'), 1, 'nothing at all is less than usual');
select pg_temp.arrive('12:02:10', p_attrs => '{"host": "a"}', p_level => 'error', p_count => 5);
select pg_temp.arrive('12:02:20', p_attrs => '{"host": "b"}', p_level => 'error', p_count => 3);
select pg_temp.arrive('12:02:30', p_count => 400);
select is(pg_temp.round('12:03'), 2, 'eight errors, five of them of one host');
select results_eq(
  'select * from pg_temp.told()',
  array[
    '12:02 few 0 against 320.000', '12:03 errors 8 against 4.000', '12:03 hosts a 5 against 4.000'
  ],
  'an alert has the value and the threshold of its time'
);
select results_eq(
  $$select i.rule_name, i.resolved_at is null, round(i.threshold::numeric) from
    logloom.alert_incidents i order by 1$$,
  $$values ('errors', true, 4::numeric), ('few', false, 320), ('hosts', true, 4)$$,
  'an incident ends when the value is usual again'
);

-- At 12:05 nothing is known of the days before, except of hosts.
select pg_temp.past('hosts', '12:05', '{0,0,0}', 0);
select is(pg_temp.round('12:05'), 1, 'the window of 12:04 is compared with that of 12:00');
select set_eq(
  $$select i.rule_name from logloom.alert_incidents i where i.resolved_at is null$$,
  array['few'],
  'the others are usual again'
);
select pg_temp.arrive('12:05:10', p_attrs => '{"host": "a"}', p_level => 'error', p_count => 90);
select is(pg_temp.round('12:06'), 1, 'a rule that does not know what is usual waits');
select is(
  (select array_agg(t) from pg_temp.told() t where t like '12:06%'),
  '{12:06 hosts a 90 against 4.000}', 'the others fire'
);
select pg_temp.past('errors', '12:05', '{0,0,0}') \g /dev/null
select pg_temp.arrive('12:06:10', p_attrs => '{"host": "a"}', p_level => 'error', p_count => 90);
select is(pg_temp.round('12:07'), 2, 'errors fires as soon as it knows three days');
delete from logloom_private.rule_values v
where v.rule_id = (select r.rule_id from logloom.alert_rules r where r.name = 'errors');
select is(pg_temp.round('12:08'), 0, 'no records');
select set_eq(
  $$select i.rule_name from logloom.alert_incidents i where i.resolved_at is null$$,
  array['errors', 'few'],
  'while it is unknown what is usual an incident stays; a silent group is usual again'
);

select results_eq(
  $$select to_char(v.window_end at time zone 'UTC', 'HH24:MI'), r.name, v.values, v.others
    from logloom_private.rule_values v
    join logloom.alert_rules r on r.rule_id = v.rule_id
    where v.window_end > pg_temp.at('00:00') and r.name <> 'errors'
    order by 1, 2$$,
  $$values
    ('12:05', 'few', '{"": 0}'::jsonb, 0::double precision), ('12:05', 'hosts', '{}', 0),
    ('12:05', 'new', '{"": 0}', 0), ('12:05', 'share', '{}', null)$$,
  'the values of every fifth minute are kept'
);
select is(
  (select to_jsonb(logloom_private.shown_baseline(r)) from logloom.alert_rules r
    where r.name = 'hosts'),
  '{"days": 7, "deviations": 4, "known_days": 3}', 'a rule says how many days it knows'
);

-- More groups than are kept.
create function pg_temp.kept_of_hosts(p_time text)
returns integer[]
language sql
as $$
  select array[count(*), min(k.value::integer), max(k.value::integer)]
  from logloom_private.rule_values v
  join logloom.alert_rules r on r.rule_id = v.rule_id
  cross join jsonb_each_text(v.values) k
  where r.name = 'hosts' and v.window_end = pg_temp.at(p_time)
$$;
select pg_temp.arrive(
  '12:09:10', p_attrs => jsonb_build_object('host', 'h' || n), p_level => 'error', p_count => n
) from generate_series(1, 25) n;
select pg_temp.round('12:10') \g /dev/null
select is(
  pg_temp.kept_of_hosts('12:10'), '{20,6,25}', 'the values of the twenty largest groups are kept'
);
select is(
  (select v.others from logloom_private.rule_values v
    join logloom.alert_rules r on r.rule_id = v.rule_id
    where r.name = 'hosts' and v.window_end = pg_temp.at('12:10')),
  null, 'and nothing is known of the others'
);
select pg_temp.arrive(
  '12:14:10', p_attrs => jsonb_build_object('host', 'h' || n), p_level => 'error',
  p_count => 30 - n
) from generate_series(1, 25) n;
select pg_temp.round('12:15') \g /dev/null
select is(pg_temp.kept_of_hosts('12:15'), '{20,5,24}', 'they stay the same groups');

update logloom.alert_rules r set query_dsl = 'level:warn', asked_at = pg_temp.at('12:15')
where r.name = 'new';
select pg_temp.round('12:16') \g /dev/null
select is(
  (select count(*) from logloom_private.rule_values v
    join logloom.alert_rules r on r.rule_id = v.rule_id where r.name = 'new'),
  0::bigint, 'the values of another query are deleted'
);

-- Creates, changes and previews rules like a user.
delete from logloom.alert_rules where true;
update logloom.plans set max_baseline_rules = 2 where plan_id = 'pro';
select pg_temp.act_as_user('acme', 'alice');
create function pg_temp.made(p_baseline jsonb, p_threshold double precision default null)
returns jsonb
language plpgsql
as $$
declare
  v_rule public.logloom_alert_rule;
begin
  v_rule := public.create_alert_rule(
    p_name => 'r', p_query_dsl => 'level:error', p_threshold => p_threshold, p_comparison => 'gt',
    p_window_minutes => 5, p_cooldown_minutes => 0, p_enabled => true, p_baseline => p_baseline
  );
  return v_rule.baseline || jsonb_build_object('threshold', v_rule.threshold);
end;
$$;
select is(
  pg_temp.made('{"deviations": 4}'),
  '{"days": 7, "deviations": 4, "known_days": 0, "threshold": 4}', 'seven days by default'
);
select is(
  pg_temp.made('{"days": 3}', 2.5),
  '{"days": 3, "deviations": 2.5, "known_days": 0, "threshold": 2.5}',
  'p_threshold counts deviations'
);
select throws_like(
  format('select pg_temp.made(%L, %L)', w.baseline, w.threshold), w.error || '%', w.error
)
from (
  values
    ('{"deviations": 4}'::jsonb, null::double precision,
      'Plan limit exceeded: alert rules with a baseline (max 2)'),
    ('{"days": 7}', null, 'Missing required parameter: p_threshold'),
    ('{"deviations": 4}', 5, 'p_threshold and the deviations of p_baseline differ'),
    ('{"days": 2, "deviations": 4}', null, 'Invalid p_baseline: '),
    ('{"days": 3.5, "deviations": 4}', null, 'Invalid p_baseline: '),
    ('{"deviations": "4"}', null, 'Invalid p_baseline: '),
    ('{"deviations": 0}', null, 'Invalid p_baseline: '),
    ('{"deviations": 1e-400}', null, 'Invalid p_baseline: '),
    ('{"deviations": 4, "weeks": 1}', null, 'Invalid p_baseline: '),
    ('[4]', null, 'Invalid p_baseline: '),
    ('"4"', null, 'Invalid p_baseline: ')
) w (baseline, threshold, error);

create temp table rules as
select r.rule_id, r.baseline_days from logloom.alert_rules r;
grant select on rules to public;
select is(
  (public.update_alert_rule(p_rule_id => r.rule_id, p_threshold => 5)).baseline,
  jsonb_build_object('days', r.baseline_days, 'deviations', 5, 'known_days', 0),
  'p_threshold changes the deviations'
) from rules r where r.baseline_days = 3;
select is(
  (public.update_alert_rule(p_rule_id => r.rule_id, p_baseline => '{"days": 4.0}')).baseline,
  '{"days": 4, "deviations": 5, "known_days": 0}', 'p_baseline changes the days alone'
) from rules r where r.baseline_days = 3;
select throws_like(
  format('select public.update_alert_rule(p_rule_id => %L, %s)', r.rule_id, c.change),
  c.error || '%', c.change
)
from rules r, (
  values
    ('p_comparison => ''eq''', 'Invalid p_baseline: '),
    ('p_baseline => ''{"days": 8}''', 'Invalid p_baseline: '),
    ('p_threshold => -1', 'Invalid p_baseline: '),
    ('p_baseline => ''{}''', 'Missing required parameter: p_threshold')
) c (change, error)
where r.baseline_days = 3;
select is(
  to_jsonb(public.update_alert_rule(
    p_rule_id => r.rule_id, p_baseline => '{}', p_threshold => 10
  )) -> 'baseline',
  'null', '{} removes the baseline'
) from rules r where r.baseline_days = 3;

select pg_temp.act_as_postgres();
select logloom_private.create_partition((now() at time zone 'UTC')::date - n)
from generate_series(0, 6) n \g /dev/null
create function pg_temp.arrive_days_ago(p_days integer, p_attrs jsonb, p_count integer)
returns void
language plpgsql
as $$
begin
  execute logloom_private.added_records_sql($query$
    insert into logloom.logs as l (id, tenant_id, ts, received_at, write_seq, level, attrs)
    select gen_random_uuid(), 'umbrella', $1, $1, nextval('logloom_private.write_seq'), 'error', $2
    from generate_series(1, $3)
  $query$)
  using date_trunc('minute', now()) - make_interval(days => p_days, hours => 1), p_attrs, p_count;
end;
$$;
select pg_temp.arrive_days_ago(n, '{"host": "a"}', case when n = 0 then 40 else 10 end)
from generate_series(0, 4) n;
select pg_temp.arrive_days_ago(0, '{"host": "b"}', 3);
select pg_temp.act_as_user('umbrella', 'uma');

create temp table previews as
select q.query_dsl, p.*
from (values ('level:error @host:a'), ('* | count() by @host')) q (query_dsl)
cross join lateral public.preview_alert_rule(
  p_query_dsl => q.query_dsl, p_comparison => 'gt', p_window_minutes => 5,
  p_baseline => '{"deviations": 4}'
) p;
select results_eq(
  $$select p.total_alerts, count(b.ts), min(b.usual), max(b.usual), min(b.threshold),
      round(max(b.threshold)::numeric, 3)
    from previews p, unnest(p.band) b where p.groups is null group by 1$$,
  $$values (5, 1441::bigint, 0::double precision, 10::double precision, 4::double precision,
    22.649)$$,
  'a preview shows what was usual: the days before the first record do not count'
);
select results_eq(
  $$select g."group" ->> '@host', g.alerts, cardinality(g.band),
      round((g.band[1]).threshold::numeric, 3)
    from previews p, unnest(p.groups) g order by 1$$,
  $$values ('a', 1, 1, 22.649), ('b', 0, 1, 4.000)$$,
  'a preview by group shows it for each group'
);
select is(
  (select p.band from public.preview_alert_rule(
    p_query_dsl => 'level:error', p_threshold => 1, p_comparison => 'gt', p_window_minutes => 5
  ) p),
  null, 'other rules have no band'
);
select * from finish();
rollback;
