-- Queries read only partitions of the range, and the tenant's records by index.
begin;
\ir ../actors.psql
\ir records.psql
select plan(11);

select pg_temp.add_records(
  jsonb_agg(jsonb_build_object('ts', '2026-03-01T12:00Z'::timestamptz + make_interval(days => i)))
)
from generate_series(0, 9) i;

create function pg_temp.partitions(p_statement text)
returns text
language sql
as $$
  select string_agg(distinct p.match[1], ' ' order by p.match[1])
  from pg_temp.plan_of(p_statement) l (line),
    regexp_matches(l.line, 'on (logs_\d{4}_\d\d_\d\d)', 'g') p (match)
$$;
create function pg_temp.page_sql(
  p_query_dsl text, p_from text, p_to text, p_ts timestamptz default null
)
returns text
language plpgsql
as $$
declare
  v_query constant logloom_private.compiled_query := logloom_private.bound_query(
    'acme', logloom_private.compile_query(p_query_dsl),
    tstzrange(p_from::timestamptz, p_to::timestamptz), 'desc', p_ts
  );
begin
  return logloom_private.page_sql(
    v_query,
    logloom_private.first_records_sql(
      'acme', v_query, 101, 'desc', p_ts, case when p_ts is not null then gen_random_uuid() end
    ),
    101, 1000000, false
  );
end;
$$;

select is(
  pg_temp.partitions(pg_temp.page_sql('level:error', '2026-03-03T10:00Z', '2026-03-04T10:00Z')),
  'logs_2026_03_03 logs_2026_03_04', 'a page of records'
);
select is(
  pg_temp.partitions(pg_temp.page_sql('', '2026-03-03T10:00Z', '2026-03-04T00:00Z')),
  'logs_2026_03_03', 'the end of the range is exclusive'
);
select is(
  pg_temp.partitions(
    pg_temp.page_sql('ts:2026-03-05 msg:x', '2026-03-01T00:00Z', '2026-03-09T00:00Z')
  ),
  'logs_2026_03_05', 'ts in the query skips days, too'
);
select is(
  pg_temp.partitions(pg_temp.page_sql('', '2026-03-01', '2026-03-09', '2026-03-02T12:00Z')),
  'logs_2026_03_01 logs_2026_03_02', 'and so does a cursor'
);
select is(
  pg_temp.partitions(logloom_private.log_stats_sql(
    'acme', logloom_private.compile_query('x | count() by host'),
    tstzrange('2026-03-03T10:00Z', '2026-03-04T10:00Z'), 100
  )),
  'logs_2026_03_03 logs_2026_03_04', 'statistics'
);
select is(
  pg_temp.partitions(logloom_private.log_histogram_sql(
    'acme', logloom_private.compile_query('x'), tstzrange('2026-03-03T10:00Z', '2026-03-04T10:00Z'),
    300
  )),
  'logs_2026_03_03 logs_2026_03_04', 'a histogram'
);
select is(
  pg_temp.partitions(logloom_private.log_stats_sql(
    'acme', logloom_private.compile_query('level:error'),
    tstzrange('2026-03-03T10:00:30Z', '2026-03-07T10:00Z'), 100
  )),
  'logs_2026_03_03', 'with counts, only the partial minutes read records'
);
set local enable_seqscan = off;
select ok(
  exists (
    select
    from pg_temp.plan_of(pg_temp.page_sql('', '2026-03-03T10:00Z', '2026-03-04T10:00Z')) l (line)
    where l.line ~ 'Index Scan Backward using logs_2026_03_03_pkey'
  ),
  'the newest records are read from the end of the primary key'
);

-- A single function that is not parallel safe would leave all work to one process.
set local enable_seqscan = on;
set local max_parallel_workers_per_gather = 2;
set local min_parallel_table_scan_size = 0;
set local min_parallel_index_scan_size = 0;
set local parallel_setup_cost = 0;
set local parallel_tuple_cost = 0;
create function pg_temp.shares(p_statement text)
returns boolean
language sql
as $$
  select exists (select from pg_temp.plan_of(p_statement) l (line) where l.line ~ 'Gather')
$$;
create function pg_temp.as_run(p_query_dsl text)
returns logloom_private.compiled_query
language plpgsql
as $$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl);
begin
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree);
  return v_query;
end;
$$;
select ok(
  pg_temp.shares(logloom_private.log_stats_sql(
    'acme', pg_temp.as_run(q), tstzrange('2026-03-03T10:00Z', '2026-03-09T10:00Z'), 100
  )),
  'parallel workers read ' || q
)
from unnest(array['"x" | count()', 'level:warn "x" | count(), p95(attrs.n) by host']) q;
select ok(
  pg_temp.shares(logloom_private.log_histogram_sql(
    'acme', pg_temp.as_run('x'), tstzrange('2026-03-03T10:00Z', '2026-03-09T10:00Z'), 300
  )),
  'and of a histogram'
);

select * from finish();
rollback;
