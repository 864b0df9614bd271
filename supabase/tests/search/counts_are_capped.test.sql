-- Hostile input cannot blow the counts up, and what they cannot tell is read from the records.
begin;
\ir ../actors.psql
\ir records.psql
select plan(12);

update logloom_private.settings set count_services_max = 3, count_service_length_max = 10;
create function pg_temp.uses_counts(p_query_dsl text)
returns boolean
language plpgsql
as $$
begin
  return logloom_private.log_stats_sql(
    'acme', logloom_private.compile_query(p_query_dsl), tstzrange(now() - interval '1 hour', now()),
    100
  ) ~ 'logloom_private\.log_counts';
end;
$$;
create function pg_temp.stats(p_query_dsl text)
returns text
language plpgsql
as $$
begin
  return (
    select string_agg(s.value::text, ' ' order by s.value desc)
    from logloom_private.log_stats_of(
      'acme', logloom_private.compile_query(p_query_dsl),
      tstzrange(now() - interval '1 hour', now()), 100
    ) s
  );
end;
$$;

select pg_temp.add_records(
  jsonb_agg(jsonb_build_object('ago', '10 minutes', 'service', 's' || i, 'level', 'info'))
)
from generate_series(1, 3) i;
select ok(pg_temp.uses_counts('service:s1'), 'as many services as are counted apart');
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object('ago', '10 minutes', 'service', 'x' || i, 'level', 'info'))
)
from generate_series(1, 50) i;
select is(
  (select count(*)::integer
    from logloom_private.log_counts), 7, 'a step adds no more than the limit'
);
select ok(not pg_temp.uses_counts('service:s1'), 'a service cannot be told then');
select ok(not pg_temp.uses_counts('| count() by service'), 'nor services compared');
select ok(pg_temp.uses_counts('level:info'), 'levels can');
select is(pg_temp.stats('service:s1'), '1', 'a scan counts a service');
select is(pg_temp.stats('service:x*'), '50', 'one that was folded, too');
select is(pg_temp.stats('level:info'), '53', 'and the counts hold all levels');
select logloom_private.compact_log_counts();
select results_eq(
  $$select service, is_other, events from logloom_private.log_counts order by is_other, service$$,
  $$values ('s1', false, 1::bigint), ('s2', false, 1), ('s3', false, 1), (null, true, 50)$$,
  'summing up folds beyond the limit'
);

select pg_temp.remove_records($$l.service in ('x1', 'x2', 's1')$$);
select logloom_private.compact_log_counts();
select is(pg_temp.stats('level:info'), '50', 'deleting what was folded keeps the sum');
select pg_temp.remove_records($$l.service like 'x%'$$);
select logloom_private.compact_log_counts();
select ok(pg_temp.uses_counts('service:s2'), 'when all that was folded is gone, services are back');

select pg_temp.add_records('[{"ago": "11 minutes", "service": "12345678901"}]');
select is(
  (select array_agg(c.service) from logloom_private.log_counts c
  where c.is_other), '{null}'::text[],
  'a long name is not kept'
);

select * from finish();
rollback;
