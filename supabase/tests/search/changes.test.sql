-- Compares a range with the range before it.
begin;
\ir ../actors.psql
\ir records.psql
select plan(17);

select is(
  round(logloom_private.surprise(10, 20, 0, 20)::numeric, 4), 17.2609,
  'G² by hand: 2 (10 ln 2 + 10 ln (10/15) + 20 ln (20/15))'
);
select is(
  logloom_private.surprise(5, 50, 10, 100), 0::double precision, 'equal shares are no surprise'
);
select is(
  round(logloom_private.surprise(110, 10000, 10, 10000)::numeric, 2), 98.02,
  'G² of eleven times as many'
);

-- The first hour has 80 records, the second 60.
select pg_temp.add_records(jsonb_agg(r.record))
from (
  select jsonb_build_object(
    'ts', timestamptz '2026-01-02T10:00:00Z' + n * interval '45 seconds',
    'level', 'info', 'service', 'api', 'host', 'web-' || n % 3,
    'msg', 'request ' || n || ' done', 'attrs', jsonb_build_object('region', 'eu', 'n', n)
  ) as record
  from generate_series(0, 79) n
  union all
  select jsonb_build_object(
    'ts', timestamptz '2026-01-02T11:00:00Z' + n * interval '30 seconds',
    'level', case when n < 30 then 'error' else 'info' end, 'service', 'api',
    'host', 'web-' || n % 3,
    'msg', case when n < 30 then 'timeout after ' || n || ' ms' else 'request ' || n || ' done' end,
    'attrs', jsonb_build_object('region', case when n < 30 then 'us' else 'eu' end, 'n', n)
  )
  from generate_series(0, 59) n
) r;

create function pg_temp.changes(
  p_query text,
  p_hidden text[] default null,
  p_before_from text default null,
  p_before_to text default null
)
returns public.logloom_log_changes
language sql
security definer
as $$
  select logloom_private.read_log_changes(
    jsonb_populate_record(
      null::logloom_private.reading_scope,
      jsonb_build_object('tenant_id', 'acme', 'hidden_fields', p_hidden)
    ),
    p_query, '2026-01-02T11:00:00Z', '2026-01-02T12:00:00Z', null, p_before_from, p_before_to
  );
$$;

select pg_temp.act_as_service_role();
select results_eq(
  $$select c.records, c.records_before, c.before_from, c.ts_from, c.ts_to
    from pg_temp.changes(null) c$$,
  $$values (60::bigint, 80::bigint, timestamptz '2026-01-02T10:00:00Z',
    timestamptz '2026-01-02T11:00:00Z', timestamptz '2026-01-02T12:00:00Z')$$,
  'the range, and the one before'
);
select results_eq(
  $$select c.kind, c.field, c.value, c.before, c.after, c.change
    from unnest((pg_temp.changes(null)).changes) c$$,
  $$values
    ('pattern', 'msg', 'timeout after <*> ms', 0::bigint, 30::bigint, 'new'),
    ('value', 'attrs.region', 'us', 0, 30, 'new'),
    ('value', 'level', 'error', 0, 30, 'new'),
    ('pattern', 'msg', 'request <*> done', 80, 30, 'shrunk'),
    ('value', 'attrs.region', 'eu', 80, 30, 'shrunk'),
    ('value', 'level', 'info', 80, 30, 'shrunk')$$,
  'new, gone, grown and shrunk values by surprise, without chance results'
);
select results_eq(
  $$select c.records_before, d.value, d.before, d.after
    from pg_temp.changes(null, null, '2026-01-02T10:00:00Z', '2026-01-02T12:00:00Z') c,
      unnest(c.changes) d
    where d.field = 'level'$$,
  $$values (80::bigint, 'error', 0::bigint, 30::bigint), (80, 'info', 80, 30)$$,
  'a range that contains the other is compared without it'
);
select results_eq(
  $$select c.records_before, c.before_from, c.before_to
    from pg_temp.changes(null, null, '2026-01-02T10:00:00Z', '2026-01-02T10:10:00Z') c$$,
  $$values (14::bigint, timestamptz '2026-01-02T10:00:00Z', timestamptz '2026-01-02T10:10:00Z')$$,
  'any other range can be compared with, too'
);
select is(
  pg_temp.attempt(
    'select pg_temp.changes(null, null, ''2026-01-02T10:00:00Z'', ''2026-01-02T11:30:00Z'')'
  ),
  'PT400 The compared ranges overlap', 'unless it overlaps in part'
);
select is(
  (select c.score from unnest((pg_temp.changes(null)).changes) c limit 1), 62.3::double precision,
  'with its score'
);
select is(
  (select count(*) from unnest((pg_temp.changes('level:info')).changes) c), 0::bigint,
  'among records of a query'
);
select is(
  (
    select array_agg(distinct c.field order by c.field)
    from unnest((pg_temp.changes(null, '{msg,attrs.region}')).changes) c
  ),
  '{level}', 'no hidden fields'
);
select is(
  (select row(c.records, c.records_before, c.changes)::text from pg_temp.changes('level:error') c),
  '(30,0,{})', 'no changes without records before'
);

select pg_temp.act_as_user('acme', 'alice');
select is(
  pg_temp.attempt('select public.log_changes(p_limit => 101)'),
  'PT400 Invalid p_limit: 1 to 100', 'at most 100'
);
select alike(
  pg_temp.attempt('select public.log_changes(p_query_dsl => ''| count()'')'), 'PT400 %',
  'only a filter is allowed'
);
select is(
  cardinality((public.log_changes(
    p_ts_from => '2026-01-02T11:00:00Z', p_ts_to => '2026-01-02T12:00:00Z', p_limit => 2
  )).changes),
  2, 'as many as p_limit'
);
select is(
  (
    select array_agg(c.change || ' ' || c.value)
    from unnest((public.log_changes(
      null, '2026-01-02T11:00:00Z', '2026-01-02T11:30:00Z', null, '2026-01-02T10:00:00Z',
      '2026-01-02T11:00:00Z'
    )).changes) c
  ),
  '{new timeout after <*> ms,new us,new error}',
  'a share is not called shrunk if chance explains that fewer records came'
);
select is(
  (public.log_changes(p_ts_from => 'now-20000d')).warnings[1].message,
  'some records of the range before are no longer kept: new values may be older',
  'a warning if the range before is not kept'
);

select * from finish();
rollback;
