-- Weeks begin on Monday, wherever records are counted by week.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(4);

insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
-- The last week that is over.
create temp table times as
select
  date_trunc('week', now() at time zone 'UTC') at time zone 'UTC' - interval '7 days' as monday;
grant select on times to public;
select pg_temp.send_request(
  p_tenant_id => 'acme',
  p_ts => array(
    select t.monday + n * interval '12 hours' from times t, unnest(array[-1, 0, 5, 13]) n
  ),
  p_msg => array['sunday', 'monday', 'wednesday', 'sunday']
);
select logloom_private.flip_queue();
select logloom_private.write_step();

create function pg_temp.time_of(p_time timestamptz) returns text language sql as $$
  select to_char(p_time at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')
$$;

select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select s.group ->> 'ts', s.value::integer
    from public.log_stats('| count() by (1w)', p_ts_from => 'now-28d') s$$,
  $$select * from (
    select pg_temp.time_of(t.monday - interval '7 days'), 1 from times t
    union all
    select pg_temp.time_of(t.monday), 3 from times t
  ) w order by 1$$,
  'rows of log_stats'
);
select is(
  (
    select jsonb_path_query_array(s.series[1].points, 'strict $[*] ? (@[1] > 0)')
    from public.log_series('| count() by (1w)', p_ts_from => 'now-28d') s
  ),
  (
    select jsonb_build_array(
      jsonb_build_array(pg_temp.time_of(t.monday - interval '7 days'), 1),
      jsonb_build_array(pg_temp.time_of(t.monday), 3)
    )
    from times t
  ),
  'points of log_series'
);
select is(
  (
    select array_agg((s.group ->> 'ts')::timestamptz order by s.group ->> 'ts')
    from public.log_stats('| count() by (1d)', p_ts_from => 'now-28d') s
  ),
  (
    select array[
      t.monday - interval '1 day', t.monday, t.monday + interval '2 days',
      t.monday + interval '6 days'
    ]
    from times t
  ),
  'days begin where they did'
);
select is(
  (
    select count(*)::integer
    from public.log_histogram('', p_ts_from => 'now-28d', p_buckets => 4) h, unnest(h.buckets) b
    where extract(isodow from b.ts at time zone 'UTC') <> 1
  ),
  0,
  'buckets of log_histogram that are a week wide'
);

select * from finish();
rollback;
