-- Hostile input cannot add unlimited counts. A query that the counts cannot answer reads records.
begin;
\ir ../actors.psql
\ir records.psql
select plan(12);

create function pg_temp.uses_counts(p_query_dsl text)
returns boolean
language sql
as $$
  select logloom_private.log_stats_sql(
    'acme', logloom_private.compile_query(p_query_dsl), tstzrange(now() - interval '1 hour', now()),
    100
  ) ~ 'logloom_private\.log_counts'
$$;
create function pg_temp.stats(p_query_dsl text)
returns text
language sql
as $$
  select string_agg(s.value::text, ' ' order by s.value desc)
  from logloom_private.log_stats_of(
    'acme', logloom_private.compile_query(p_query_dsl),
    tstzrange(now() - interval '1 hour', now()), 100
  ) s
$$;

select pg_temp.add_records(
  jsonb_agg(jsonb_build_object('ago', '10 minutes', 'service', 's' || i, 'level', 'info'))
)
from generate_series(1, 100) i;
select ok(pg_temp.uses_counts('service:s1'), 'counts answer for as many services as the limit');
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object('ago', '10 minutes', 'service', 'x' || i, 'level', 'info'))
)
from generate_series(1, 150) i;
select is(
  (select count(*)::integer
    from logloom_private.log_counts), 201, 'a step adds no more rows than the limit'
);
select ok(not pg_temp.uses_counts('service:s1'), 'then counts cannot answer for a service');
select ok(not pg_temp.uses_counts('| count() by service'), 'nor by service');
select ok(pg_temp.uses_counts('level:info'), 'but for levels');
select is(pg_temp.stats('service:s1'), '1', 'a scan counts a service');
select is(pg_temp.stats('service:x*'), '150', 'also folded ones');
select is(pg_temp.stats('level:info'), '250', 'and the counts have all levels');
select logloom_private.compact_log_counts();
select results_eq(
  $$select count(c.service), bool_and(c.service like 's%'), c.is_other, sum(c.events)
    from logloom_private.log_counts c group by c.is_other order by c.is_other$$,
  $$values (100::bigint, true, false, 100::numeric), (0, null, true, 150)$$,
  'compacting folds services beyond the limit'
);

select pg_temp.remove_records($$l.service in ('x1', 'x2', 's1')$$);
select logloom_private.compact_log_counts();
select is(pg_temp.stats('level:info'), '247', 'deleting folded records keeps the sum right');
select pg_temp.remove_records($$l.service like 'x%'$$);
select logloom_private.compact_log_counts();
select ok(
  pg_temp.uses_counts('service:s2'), 'without folded records counts answer for services again'
);

select pg_temp.add_records(
  jsonb_build_array(jsonb_build_object('ago', '11 minutes', 'service', repeat('x', 201)))
);
select is(
  (select array_agg(c.service) from logloom_private.log_counts c
  where c.is_other), '{null}'::text[],
  'a long name is not kept'
);

select * from finish();
rollback;
