-- Compares the services of a range with the same hours of the days before.
begin;
\ir ../actors.psql
\ir records.psql
select plan(14);

select pg_temp.add_records('[
  {"ts": "2026-01-01T10:15:00Z", "service": "api", "level": "info"},
  {"ts": "2026-01-01T10:16:00Z", "service": "api", "level": "error"},
  {"ts": "2026-01-01T10:16:30Z", "service": "gone", "level": "info"},
  {"ts": "2026-01-01T12:00:00Z", "service": "later", "level": "info"},
  {"ts": "2026-01-02T10:05:10Z", "service": "api", "level": "error"},
  {"ts": "2026-01-02T10:05:20Z", "service": "api", "level": "info"},
  {"ts": "2026-01-02T10:59:59Z", "service": "api", "level": "info", "host": "web-1"},
  {"ts": "2026-01-02T10:30:00Z", "service": "new", "level": "error"},
  {"ts": "2026-01-02T10:31:00Z", "level": "info"},
  {"ts": "2026-01-02T11:00:00Z", "service": "api", "level": "error"},
  {"tenant": "umbrella", "ts": "2026-01-02T10:30:00Z", "service": "theirs"}
]');

select pg_temp.add_records(jsonb_agg(jsonb_build_object(
  'ts', timestamptz '2026-02-02T10:59:00Z' - make_interval(hours => r.hours, secs => n),
  'service', 'api', 'host', r.host
)))
from (values ('stays', 24), ('stays', 0), ('silent', 24), ('earlier', 24), ('earlier', 1))
  r (host, hours), generate_series(1, 7) n
where not (r.host = 'stays' and r.hours = 0 and n > 1);

create function pg_temp.overview(
  p_query text default null,
  p_hidden text[] default null,
  p_from text default '2026-01-02T10:00:00Z',
  p_to text default '2026-01-02T11:00:00Z'
)
returns public.logloom_log_overview
language sql
security definer
as $$
  select logloom_private.read_log_overview(
    jsonb_populate_record(
      null::logloom_private.reading_scope,
      jsonb_build_object('tenant_id', 'acme', 'hidden_fields', p_hidden)
    ),
    p_query, p_from, p_to, null
  );
$$;

select pg_temp.act_as_service_role();
select results_eq(
  $$select s.service, s.records, s.errors, s.records_before, s.errors_before, s.last_seen
    from unnest((pg_temp.overview()).services) s$$,
  $$values
    ('api', 3::bigint, 1::bigint, 2::bigint, 1::bigint, timestamptz '2026-01-02T10:59:00Z'),
    ('new', 1, 1, 0, 0, timestamptz '2026-01-02T10:30:00Z'),
    (null, 1, 0, 0, 0, timestamptz '2026-01-02T10:31:00Z'),
    ('gone', 0, 0, 1, 0, timestamptz '2026-01-01T10:16:00Z')$$,
  'each service with its records and errors, now and a day before, also silent ones'
);
select results_eq(
  $$select s.service, array_to_string(s.records_over_time, ' '),
      array_to_string(s.errors_over_time, ' ')
    from unnest((pg_temp.overview()).services) s where s.service in ('api', 'gone')$$,
  $$values
    ('api', '0 0 2' || repeat(' 0', 20) || ' 1', '0 0 1' || repeat(' 0', 21)),
    ('gone', '0' || repeat(' 0', 23), '0' || repeat(' 0', 23))$$,
  'and how many of each there are in the 24 parts of the range'
);
select results_eq(
  $$select s.service, s.records_before_lately, s.errors_before_lately
    from unnest((pg_temp.overview(p_to => '2026-01-02T10:16:40Z')).services) s
    where s.records_before > 0$$,
  $$values ('api', 1::bigint, 1::bigint), ('gone', 1, 0)$$,
  'how many of each there were in the last part before'
);
select is(
  (pg_temp.overview(p_from => '2026-02-01T11:00:00Z', p_to => '2026-02-02T11:00:00Z')).silent_hosts,
  '{earlier,silent}', 'hosts that are silent in the last part and were not in the same part before'
);
select is(
  (pg_temp.overview(null, '{host}', '2026-02-01T11:00:00Z', '2026-02-02T11:00:00Z')).silent_hosts,
  null, 'hidden hosts are not shown'
);
select results_eq(
  $$select o.ts_from, o.ts_to, o.before_from, o.before_to, o.total_services, o.warnings
    from pg_temp.overview() o$$,
  $$values (
    timestamptz '2026-01-02T10:00:00Z', timestamptz '2026-01-02T11:00:00Z',
    timestamptz '2026-01-01T10:00:00Z', timestamptz '2026-01-01T11:00:00Z', 4::bigint,
    '{}'::public.logloom_query_warning[]
  )$$,
  'with its ranges'
);
select results_eq(
  $$select o.before_from, o.before_to
    from pg_temp.overview(p_from => '2026-01-02T00:00:00Z', p_to => '2026-01-03T06:00:00Z') o$$,
  $$values (timestamptz '2025-12-31T00:00:00Z', timestamptz '2026-01-01T06:00:00Z')$$,
  'a longer range is compared with as many days before, without overlap'
);
select results_eq(
  $$select s.service, s.records from unnest((pg_temp.overview('host:web-1')).services) s$$,
  $$values ('api', 1::bigint)$$,
  'among records of a query'
);
select results_eq(
  $$select s.service, s.records, s.errors
    from unnest((pg_temp.overview(null, '{service}')).services) s$$,
  $$values (null::text, 5::bigint, 2::bigint)$$,
  'a hidden service is not shown'
);
select is(
  (select sum(s.errors) from unnest((pg_temp.overview(null, '{level}')).services) s), 0::numeric,
  'nor are hidden levels'
);

select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.attempt('select public.log_overview(p_limit => 1001)'),
  'PT400 Invalid p_limit: 1 to 1000', 'at most 1000'
);
select alike(
  pg_temp.attempt('select public.log_overview(p_query_dsl => ''| count()'')'), 'PT400 %',
  'only a filter is allowed'
);
select results_eq(
  $$select s.service, o.total_services
    from public.log_overview(
      p_ts_from => '2026-01-02T10:00:00Z', p_ts_to => '2026-01-02T11:00:00Z', p_limit => 1
    ) o, unnest(o.services) s$$,
  $$values ('api', 4::bigint)$$,
  'as many as p_limit, with their total'
);
select is(
  (public.log_overview(p_ts_from => 'now-20000d')).warnings[1].message,
  'some records of the range before are no longer kept: its counts are too low',
  'a warning if the range before is not kept'
);

select * from finish();
rollback;
