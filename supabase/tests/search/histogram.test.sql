begin;
\ir ../actors.psql
\ir records.psql
select plan(38);

select pg_temp.add_records($$[
  {"ts": "2026-03-01T10:00:00Z", "level": "error"},
  {"ts": "2026-03-01T10:00:30Z", "level": "warn"},
  {"ts": "2026-03-01T10:00:59.999999Z", "level": "info"},
  {"ts": "2026-03-01T10:01:00Z", "level": "debug"},
  {"ts": "2026-03-01T10:03:20Z", "msg": "no level"},
  {"ts": "2026-03-01T10:03:30Z", "level": "error"},
  {"ts": "2026-03-01T10:02:00Z", "level": "error", "tenant": "umbrella"},
  {"ts": "2026-03-15T12:00:00Z"},
  {"ts": "2026-03-16T00:00:00Z"},
  {"ts": "2026-03-18T12:00:00Z"},
  {"ts": "2026-03-22T12:00:00Z"}
]$$);
select pg_temp.act_as_user('acme', 'alice');

create function pg_temp.buckets(
  p_query_dsl text, p_from timestamptz, p_to timestamptz, p_buckets integer default null
)
returns text
language sql
as $$
  select h.interval_seconds || ' s, ' || h.total || ': ' || (
    select string_agg(
      to_char(b.ts at time zone 'UTC', 'HH24:MI:SS') || ' ' || b.count || ' ' || b.levels, '; '
      order by b.ts
    )
    from unnest(h.buckets) b
  )
  from public.log_histogram(p_query_dsl, p_from::text, p_to::text, p_buckets) h
$$;

select is(
  pg_temp.buckets('', '2026-03-01T10:00:00Z', '2026-03-01T10:04:00Z', 4),
  '60 s, 6: 10:00:00 3 (0,1,1,1,0); 10:01:00 1 (1,0,0,0,0); 10:02:00 0 (0,0,0,0,0); '
    '10:03:00 2 (0,0,0,1,1)',
  'buckets of a minute, with empty ones and levels'
);
select is(
  pg_temp.buckets('', '2026-03-01T10:00:30Z', '2026-03-01T10:03:30Z', 4),
  '60 s, 4: 10:00:00 2 (0,1,1,0,0); 10:01:00 1 (1,0,0,0,0); 10:02:00 0 (0,0,0,0,0); '
    '10:03:00 1 (0,0,0,0,1)',
  'the first bucket begins before the range, its records do not'
);
select is(
  pg_temp.buckets('', '2026-03-01T10:00:30Z', '2026-03-01T10:01:30Z', 3),
  '30 s, 3: 10:00:30 2 (0,1,1,0,0); 10:01:00 1 (1,0,0,0,0)', 'less than a minute'
);
select is(
  pg_temp.buckets('level:>=warn', '2026-03-01T10:00:00Z', '2026-03-01T10:10:00Z', 2),
  '300 s, 3: 10:00:00 3 (0,0,1,2,0); 10:05:00 0 (0,0,0,0,0)', 'with a query'
);
select is(
  pg_temp.buckets(
    'msg:"no level" ts:<2026-03-01T10:03:21Z', '2026-03-01T10:00:00Z', '2026-03-01T10:10:00Z', 1
  ),
  '900 s, 1: 10:00:00 1 (0,0,0,0,1)', 'one bucket'
);
select is(
  (
    select row(h.interval_seconds, h.total, cardinality(h.buckets))::text
    from public.log_histogram() h
  ),
  case when extract(second from now()) = 0 then '(60,0,60)' else '(60,0,61)' end,
  'by default the last hour in buckets of a minute'
);

select is(
  (
    select h.interval_seconds || ' ' || cardinality(h.buckets)
    from public.log_histogram(null, w.ts_from::text, w.ts_to::text, w.buckets) h
  ),
  w.answer, format('%s to %s in %s', w.ts_from, w.ts_to, w.buckets)
)
from (
  select s.ts_from::timestamptz, s.ts_to::timestamptz, s.buckets, s.answer
  from (
    values
      ('2026-03-01T00:00:00Z', '2026-03-01T00:00:00.000001Z', 1, '1 1'),
      ('2026-03-01T00:00:00Z', '2026-03-01T00:00:01Z', 1, '1 1'),
      ('2026-03-01T00:00:00Z', '2026-03-01T00:00:01.000001Z', 1, '5 1'),
      ('2026-03-01T00:00:00.999999Z', '2026-03-01T00:00:01.000001Z', 1, '1 2'),
      ('2026-03-01T00:00:00Z', '2026-03-01T00:01:00Z', 60, '1 60'),
      ('2026-03-01T00:00:00Z', '2026-03-01T00:05:00Z', 60, '5 60'),
      ('2026-03-01T00:00:00Z', '2026-03-01T00:05:01Z', 60, '10 31'),
      ('2026-03-01T00:00:00Z', '2026-03-01T00:15:00Z', 60, '15 60'),
      ('2026-03-01T00:00:00Z', '2026-03-01T00:30:00Z', 60, '30 60'),
      ('2026-03-01T00:00:00Z', '2026-03-01T01:00:00Z', 60, '60 60'),
      ('2026-03-01T00:00:00Z', '2026-03-01T05:00:00Z', 60, '300 60'),
      ('2026-03-01T00:00:00Z', '2026-03-01T15:00:00Z', 60, '900 60'),
      ('2026-03-01T00:00:00Z', '2026-03-02T06:00:00Z', 60, '1800 60'),
      ('2026-03-01T00:00:00Z', '2026-03-03T12:00:00Z', 60, '3600 60'),
      ('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 8, '10800 8'),
      ('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 4, '21600 4'),
      ('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 2, '43200 2'),
      ('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 1, '86400 1'),
      ('2026-03-01T00:00:00Z', '2026-03-03T00:00:00Z', 1, '172800 2'),
      ('2026-03-01T00:00:00Z', '2026-03-04T00:00:00Z', 1, '259200 2'),
      ('2026-03-01T00:00:00Z', '2026-03-02T00:00:00Z', 24, '3600 24'),
      ('2026-03-01T00:20:00Z', '2026-03-02T00:20:00Z', 24, '3600 25'),
      ('1970-01-01T00:00:00Z', '2026-01-01T00:00:00Z', 1000, '1814400 975'),
      ('2026-01-01T00:00:00Z', '2026-12-31T00:00:00Z', 1000, '43200 728')
  ) s (ts_from, ts_to, buckets, answer)
) w;

select throws_ok(
  format('select public.log_histogram(p_buckets => %s)', b), 'PT400',
  'Invalid p_buckets: 1 to 1000', 'p_buckets ' || b
)
from unnest(array[0, 1001, -1]) b;
select throws_ok(
  $$select public.log_histogram('* | count() by level')$$, 'PT400',
  'Invalid p_query_dsl: this operation returns records, not count()', 'an aggregate'
);

-- Weeks begin on Monday in all operations.
create function pg_temp.counts(p_query_dsl text)
returns text
language sql
as $$
  select string_agg(s.group ->> 'ts' || ' ' || s.value, '; ' order by s.group ->> 'ts')
  from public.log_stats(p_query_dsl, '2026-03-09T00:00:00Z', '2026-04-06T00:00:00Z') s
$$;
select is(
  pg_temp.counts('| count() by (1w)'), '2026-03-09T00:00:00Z 1; 2026-03-16T00:00:00Z 3',
  'rows of log_stats'
);
select is(
  (
    select jsonb_path_query_array(s.series[1].points, 'strict $[*] ? (@[1] > 0)')
    from public.log_series('| count() by (1w)', '2026-03-09T00:00:00Z', '2026-04-06T00:00:00Z') s
  ),
  '[["2026-03-09T00:00:00Z", 1], ["2026-03-16T00:00:00Z", 3]]', 'points of log_series'
);
select is(
  pg_temp.counts('| count() by (1d)'),
  '2026-03-15T00:00:00Z 1; 2026-03-16T00:00:00Z 1; 2026-03-18T00:00:00Z 1; 2026-03-22T00:00:00Z 1',
  'days begin at midnight UTC'
);
select is(
  (
    select string_agg(to_char(b.ts at time zone 'UTC', 'Dy DD'), ' ' order by b.ts)
    from public.log_histogram('', '2026-03-09T00:00:00Z', '2026-04-06T00:00:00Z', 4) h,
      unnest(h.buckets) b
  ),
  'Mon 09 Mon 16 Mon 23 Mon 30', 'buckets of log_histogram with the width of a week'
);

select * from finish();
rollback;
