begin;
\ir ../actors.psql
\ir records.psql
select plan(7);

select pg_temp.add_records(
  jsonb_agg(jsonb_build_object('msg', repeat('a', 2000), 'attrs', jsonb_build_object('n', i)))
)
from generate_series(1, 5000) i;
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');

-- This query takes several times the timeout. Everything before the search takes a small part of
-- the timeout.
select string_agg(format('msg:~"(a+b?)+%s$"', chr(x)), ' OR ') as slow
from generate_series(ascii('c'), ascii('z')) x \gset
insert into logloom.saved_searches (id, tenant_id, created_by, name, query_dsl)
values ('00000000-0000-4000-8000-000000000001', 'acme', 'alice', 'slow', :'slow');
create temp table calls (call text);
insert into calls
values
  ('search_logs(%L)'),
  ('log_stats(%L)'),
  ('log_histogram(%L)'),
  ('list_log_fields(%L)'),
  ('run_saved_search(''00000000-0000-4000-8000-000000000001'')');
grant select on calls to public;
select pg_temp.act_as_user('acme', 'alice');
-- The first call compiles functions, which the timeout must not cancel.
select format('select public.' || c.call, 'level:error')
from calls c
where c.call like '%\%L%' \gexec
select pg_temp.act_as_postgres();
select logloom_private.compile_query(:'slow', now()) \g /dev/null
select pg_temp.act_as_user('acme', 'alice');
set local statement_timeout = '500ms';

-- The timeout applies to a statement, so each call is a separate statement.
select format(
  'select throws_ok(%L, ''PT408'', ''The search took too long'', %L)',
  format('select public.' || c.call, :'slow'), split_part(c.call, '(', 1)
)
from calls c \gexec
set local statement_timeout = 0;
select is(
  (
    select count(*)::integer
    from pg_proc p, unnest(p.proconfig) c
    where p.pronamespace = 'public'::regnamespace
      and p.proname in (
        'search_logs', 'log_stats', 'log_histogram', 'list_log_fields', 'get_log', 'tail_logs',
        'run_saved_search', 'validate_query'
      )
      and c = 'statement_timeout=15s'
  ),
  8, 'the operations have a timeout of 15 s'
);
select is(
  (public.get_saved_search('00000000-0000-4000-8000-000000000001')).run_count, 0::bigint,
  'a run that was too slow is not counted'
);

select * from finish();
rollback;
