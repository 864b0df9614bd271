begin;
\ir ../actors.psql
select plan(13);

select pg_temp.act_as_user('acme', 'alice');
select is(to_jsonb(public.check_plan_feature(f)), a::jsonb, 'before the first write: ' || f)
from (
  values
    ('saved_searches', '{"enabled": true, "maxCount": 10, "currentCount": 0}'),
    ('alerts', '{"enabled": true, "maxCount": 3, "currentCount": 0}'),
    ('teleport', '{"enabled": false, "maxCount": 0, "currentCount": 0}'),
    ('', '{"enabled": false, "maxCount": 0, "currentCount": 0}')
) v (f, a);
select throws_ok(
  'select public.check_plan_feature()',
  'PT400', 'Missing required parameter: p_feature', 'p_feature is required'
);

select public.create_saved_search(p_name => 'n' || i, p_query_dsl => 'ts:*')
from generate_series(1, 10) i;
select pg_temp.act_as_user('acme', 'bob');
select throws_ok(
  $$select public.create_saved_search(p_name => 'n', p_query_dsl => 'ts:*')$$,
  'PT400', 'Plan limit exceeded: saved_searches (max 10)',
  'the limit holds for all users of the tenant together'
);
select is(
  to_jsonb(f), '{"enabled": true, "maxCount": 10, "currentCount": 10}',
  'check_plan_feature shows the count'
)
from public.check_plan_feature('saved_searches') f;

create function pg_temp.rule()
returns text
language sql
as $$
  select pg_temp.attempt($call$select public.create_alert_rule(
    p_name => 'n', p_query_dsl => 'ts:*', p_threshold => 1, p_comparison => 'gt',
    p_window_minutes => 5, p_cooldown_minutes => 5, p_enabled => false
  )$call$)
$$;
grant execute on function pg_temp.rule() to public;

select is(
  array(select pg_temp.rule() from generate_series(1, 4)),
  '{accepted,accepted,accepted,"PT400 Plan limit exceeded: alerts (max 3)"}',
  'a limit of three alert rules counts disabled ones'
);

select pg_temp.act_as_postgres();
update logloom.plans set max_alerts = 4 where plan_id = 'free';
select pg_temp.act_as_user('acme', 'bob');
select is(pg_temp.rule(), 'accepted', 'a larger plan has room at once');

select pg_temp.act_as_postgres();
update logloom.plans set alerts = false, max_saved_searches = 5 where plan_id = 'free';
select pg_temp.act_as_user('acme', 'bob');
select is(
  pg_temp.rule(), 'PT400 Plan limit exceeded: alerts (max 0)', 'a plan without the feature'
);
select is(
  to_jsonb(f), '{"enabled": false, "maxCount": 0, "currentCount": 4}', 'check_plan_feature says so'
)
from public.check_plan_feature('alerts') f;
select is(
  public.get_saved_search_count(), 0::bigint, 'searches beyond a smaller plan stay: none of bob'
);
select pg_temp.act_as_user('acme', 'alice');
select is(public.get_saved_search_count(), 10::bigint, 'ten of alice');

select * from finish();
rollback;
