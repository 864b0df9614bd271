begin;
\ir ../actors.psql
select plan(23);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
select logloom_private.create_partition(logloom_private.utc_day(now()) - i)
from generate_series(1, 2) i \g /dev/null
-- The last minute that the watermark has passed.
create temp table minutes as
select date_trunc('minute', logloom_private.watermark(null)) as m;
grant select on minutes to public;

-- Three hours ago one minute has 5 errors, and each of the next four minutes has one.
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq, level, attrs)
select gen_random_uuid(), 'acme', m.m - interval '180 minutes' + i * interval '10 s', now(), 1,
  'error', jsonb_build_object('ms', i)
from minutes m, generate_series(0, 4) i
union all
select gen_random_uuid(), 'acme', m.m - interval '179 minutes' + i * interval '1 minute', now(), 1,
  'error', jsonb_build_object('ms', 100)
from minutes m, generate_series(0, 3) i
union all
select
  gen_random_uuid(), 'umbrella', m.m - interval '180 minutes', now(), 1, 'error', '{"ms": 1000}'
from minutes m;

create function pg_temp.preview(p_arguments text)
returns text[]
language plpgsql
as $$
declare
  v_preview public.logloom_alert_preview;
begin
  execute format('select p.* from public.preview_alert_rule(%s) p', p_arguments) into v_preview;
  return array(
    select extract(epoch from m.m - a.window_end)::integer / 60 || ': ' || a.value
    from minutes m, unnest(v_preview.alerts) a
  );
end;
$$;

select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.preview($$p_query_dsl => 'level:error', p_threshold => 4, p_comparison => 'gt',
    p_window_minutes => 1$$),
  '{179: 5}', 'the minute with more than 4 errors fires'
);
select is(
  pg_temp.preview($$p_query_dsl => 'level:error', p_threshold => 0, p_comparison => 'gt',
    p_window_minutes => 1, p_for_minutes => 3$$),
  '{"176: 1","175: 1"}', 'for_minutes applies'
);
select is(
  (
    select array[
      count(*)::text, sum(s.value)::text,
      (max(s.value) filter (where s.ts = m.m - interval '179 minutes'))::text,
      (min(s.ts) = p.ts_from)::text, (max(s.ts) = p.ts_to)::text
    ]
    from minutes m, public.preview_alert_rule(
      p_query_dsl => 'level:error', p_threshold => 100, p_comparison => 'gt',
      p_window_minutes => 1
    ) p, unnest(p.series) s
    group by p.ts_from, p.ts_to
  ),
  '{1441,9,5,true,true}', 'each window has its value, whether it fires or not'
);
select is(
  pg_temp.preview($$p_query_dsl => 'level:error', p_threshold => 5, p_comparison => 'gte',
    p_window_minutes => 3$$),
  '{"179: 5","178: 6","177: 7"}', 'windows overlap'
);
select is(
  pg_temp.preview($$p_query_dsl => 'level:error', p_threshold => 1, p_comparison => 'gte',
    p_window_minutes => 3, p_cooldown_minutes => 4$$),
  '{"179: 5","175: 3"}', 'the cooldown applies'
);
select is(
  pg_temp.preview($$p_query_dsl => 'level:error | max(attrs.ms)', p_threshold => 50,
    p_comparison => 'gt', p_window_minutes => 1$$),
  '{"178: 100","177: 100","176: 100","175: 100"}', 'aggregates have values'
);
select is(
  (
    select array[
      p.step_minutes::text, (p.ts_to - p.ts_from)::text, (p.ts_to = m.m)::text,
      cardinality(p.alerts)::text, p.alerts[1].value::text
    ]
    from minutes m, public.preview_alert_rule(
      p_query_dsl => 'level:error | count_distinct(attrs.ms)', p_threshold => 5,
      p_comparison => 'gt', p_window_minutes => 60
    ) p
  ),
  '{60,"1 day",true,1,6}', 'distinct counts use adjacent windows'
);
-- A rule with by is previewed for each group.
create function pg_temp.grouped(p_threshold double precision, p_cooldown integer)
returns public.logloom_alert_preview
language sql
as $$
  select public.preview_alert_rule(
    p_query_dsl => 'level:error | count() by @ms', p_threshold => p_threshold,
    p_comparison => 'gte', p_window_minutes => 1, p_cooldown_minutes => p_cooldown
  )
$$;
select is(
  (
    select array_agg(
      extract(epoch from m.m - a.window_end)::integer / 60 || ': ' || (a."group" ->> '@ms')
      order by a.n
    )
    from minutes m, pg_temp.grouped(1, 2) p,
      unnest(p.alerts) with ordinality a (window_start, window_end, value, "group", n)
  ),
  '{179: 0,179: 1,179: 2,179: 3,179: 4,178: 100,176: 100}',
  'a rule with by fires for each group, each with its own cooldown'
);
select is(
  (
    select array_agg(
      (g."group" ->> '@ms') || ': ' || g.alerts || ' of ' || cardinality(g.series) order by g.n
    )
    from pg_temp.grouped(1, 2) p,
      unnest(p.groups) with ordinality g ("group", alerts, series, n)
  ),
  '{"100: 2 of 4","0: 1 of 1","1: 1 of 1","2: 1 of 1","3: 1 of 1","4: 1 of 1"}',
  'each group has a series of its values; the one that fires most comes first'
);
select is(
  (
    select array[
      p.step_minutes, p.total_alerts, p.total_groups,
      p.crowded_windows,
      (select count(*) from unnest(p.series)),
      (select count(s.value) from unnest(p.series) s),
      (select max(s.value) from unnest(p.series) s)
    ]::integer[]
    from pg_temp.grouped(1, 2) p
  ),
  '{1,7,6,0,1440,5,1}', 'series has the highest value of each window'
);
select is(
  (
    select array[
      p.alerts[1].value, p.series[22].value, p.series[23].value, cardinality(p.groups)
    ]::text[]
    from public.preview_alert_rule(
      p_query_dsl => 'level:error | rate() by service', p_threshold => 0, p_comparison => 'gt',
      p_window_minutes => 60
    ) p
  ),
  '{0.15,0.15,NULL,1}', 'a rate is per minute, and records without a service are a group'
);
reset role;
update logloom_private.settings set alert_groups = 4;
select pg_temp.act_as_user('acme', 'alice');
select is(
  (
    select array[
      p.crowded_windows, p.total_alerts, cardinality(p.alerts),
      cardinality(p.groups), p.total_groups,
      (select count(s.value) from unnest(p.series) s)
    ]::integer[]
    from pg_temp.grouped(1, 0) p
  ),
  '{1,4,4,1,6,4}', 'in a window with too many groups none fires'
);
reset role;
update logloom_private.settings set alert_groups = 50;
-- Each of 40 minutes has 30 groups. A later minute has a group with a long value.
insert into logloom.logs (id, tenant_id, ts, received_at, write_seq, level, attrs)
select gen_random_uuid(), 'many', m.m - i * interval '1 minute', now(), 1, 'error',
  jsonb_build_object('ms', g)
from minutes m, generate_series(11, 50) i, generate_series(1, 30) g
union all
select gen_random_uuid(), 'many', m.m - interval '10 minutes', now(), 1, 'error',
  jsonb_build_object('ms', repeat('x', 1024))
from minutes m;
insert into logloom.tenants (tenant_id, plan_id) values ('many', 'pro');
select pg_temp.act_as_user('many', 'mary');
select is(
  (
    select array[
      p.crowded_windows, p.total_alerts, cardinality(p.alerts), p.total_groups,
      cardinality(p.groups)
    ]
    from pg_temp.grouped(1, 0) p
  ),
  '{1,1200,1000,31,20}',
  'nor in a window with too long groups; the newest alerts and largest groups are listed'
);
reset role;
update logloom_private.settings set search_groups = 8;
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  'select * from pg_temp.grouped(1, 0)',
  'PT400', 'The stage by reached its limit of 8 groups of all windows',
  'too many groups are refused'
);
reset role;
update logloom_private.settings set search_groups = 100000;
select pg_temp.act_as_user('umbrella', 'eve');
select is(
  (select array[p.total_groups, p.total_alerts] from pg_temp.grouped(1, 0) p),
  '{1,1}', 'a preview reads the tenant''s own records only'
);
select pg_temp.act_as_user('acme', 'alice');

create temp table rules as
select r.rule_id from public.create_alert_rule(
  p_name => 'n', p_query_dsl => 'level:error', p_threshold => 4, p_comparison => 'gt',
  p_window_minutes => 1, p_cooldown_minutes => 0, p_enabled => true
) r;
grant select on rules to public;
select is(
  pg_temp.preview(format('p_rule_id => %L', r.rule_id)), '{179: 5}', 'a saved rule is previewed'
)
from rules r;
select is(
  pg_temp.preview(format('p_rule_id => %L, p_comparison => ''lt'', p_threshold => 0', r.rule_id)),
  '{}', 'parameters replace parts of a saved rule'
)
from rules r;
select throws_ok(
  format('select public.preview_alert_rule(%s)', c.arguments), 'PT400', c.message, c.message
)
from (
  values
    ($$p_query_dsl => 'ts:>now-5m', p_threshold => 1, p_comparison => 'gt', p_window_minutes => 1$$,
      'No preview for a query that uses "now"'),
    ($$p_query_dsl => 'a', p_threshold => 1, p_comparison => 'above', p_window_minutes => 1$$,
      'Invalid p_comparison: one of gt, gte, lt, lte, eq, neq'),
    ($$p_query_dsl => 'a', p_threshold => 1, p_comparison => 'gt', p_window_minutes => 1441$$,
      'Invalid p_window_minutes: 1 to 1440'),
    ($$p_query_dsl => 'a', p_threshold => 1, p_comparison => 'gt', p_window_minutes => 1,
      p_for_minutes => 1441$$, 'Invalid p_for_minutes: 0 to 1440'),
    ($$p_query_dsl => 'a', p_comparison => 'gt', p_window_minutes => 1$$,
      'Missing required parameter: p_threshold')
) c (arguments, message);
select pg_temp.act_as_user('umbrella', 'eve');
select throws_ok(
  format('select public.preview_alert_rule(p_rule_id => %L)', r.rule_id),
  'PT404', 'Alert rule not found', 'another tenant''s rule is not found'
)
from rules r;

select * from finish();
rollback;
