-- Records that the database itself makes keep the limits of the tenant's senders.
begin;
\ir ../ingest.psql
\ir ../stopped_clock.psql
select plan(5);

select pg_temp.stop_clock('take_rate', 'filled_bucket', 'check_rate');
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'free');
create function pg_temp.record(
  p_msg text, p_level text default null, p_attrs jsonb default null, p_ts timestamptz default null
)
returns logloom_private.own_record
language sql
return row(p_ts, p_level, p_msg, 'db', null, null, null, null, null, p_attrs);
create function pg_temp.own(
  p_records logloom_private.own_record[], p_tenant_id text default 'acme',
  p_claims jsonb default null
)
returns text
language sql
as $$
  select concat_ws(' ', a.stored, a.refused, a.error)
  from logloom_private.ingest_own(p_tenant_id, p_records, p_claims) a
$$;

select is(
  pg_temp.own(array[
    pg_temp.record('a', 'INFO'), pg_temp.record('b', 'Fatal', '{"n": 1}'),
    pg_temp.record('c', 'loud', '[1]'),
    pg_temp.record(repeat(e'\x01', 300000), p_attrs => '{"n": 1}'),
    pg_temp.record('d', p_attrs => jsonb_build_object('n', array_fill(1, array[160000]))),
    pg_temp.record('e', p_attrs => (repeat('[', 3000) || repeat(']', 3000))::jsonb),
    pg_temp.record('old', p_ts => now() - interval '8 days')
  ]),
  '6 1 ts is older than the retention of 7 days', 'a record out of range is refused alone'
);
select results_eq(
  $$select r.level, length(r.msg), left(r.attrs::text, 50)
    from logloom_private.queue q, unnest(q.level, q.msg, q.attrs) r (level, msg, attrs)$$,
  $$values
    ('info', 1, null), ('error', 1, '{"n": 1, "original_level": "Fatal"}'),
    (null, 1, '{"attrs": [1], "original_level": "loud"}'),
    (null, 16352, '{"logloom_cut": {"attrs": 1800130}}'),
    (null, 1, '{"logloom_cut": {"attrs": 480130}}'),
    (null, 1, '{"attrs": "' || repeat('[', 39))$$,
  'the others are like those of senders, or are cut'
);

update logloom.plans
set events_per_second = 10, events_burst = 20, requests_per_second = 1, requests_burst = 1
where plan_id = 'free';
select is(
  array(select pg_temp.own(array_fill(pg_temp.record('n'), array[30])) from generate_series(1, 2)),
  '{30 0,0 30 Rate limit reached: 10 events per second}', 'the rate of events applies'
);
select is(
  (select refused from logloom.usage_days where tenant_id = 'acme'), 31::bigint,
  'usage counts all refused records'
);

update logloom.plans set events_per_second = null, events_burst = null
where plan_id = 'free';
select is(
  array(
    select pg_temp.own(array[pg_temp.record('n')], 'globex', c)
    from unnest(array[null, '{"is_anonymous": true}', '{}']::jsonb[]) c
  ),
  array[
    '0 1 There is no tenant globex', '0 1 Anonymous users cannot create tenants here', '1 0'
  ],
  'only the claims of a token create a tenant'
);

select * from finish();
rollback;
