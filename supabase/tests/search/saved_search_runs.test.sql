begin;
\ir ../actors.psql
\ir records.psql
select plan(14);

select pg_temp.add_records($$[
  {"ago": "3 minutes", "msg": "a", "level": "error"},
  {"ago": "2 minutes", "msg": "b", "level": "error"},
  {"ago": "1 minute", "msg": "c", "level": "info"}
]$$);
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro'), ('umbrella', 'pro');
insert into logloom.saved_searches (id, tenant_id, created_by, name, query_dsl, is_shared)
values
  ('00000000-0000-4000-8000-000000000001', 'acme', 'alice', 'shared', 'level:error', true),
  ('00000000-0000-4000-8000-000000000002', 'acme', 'alice', 'private', '| count() by level', false);

select pg_temp.act_as_user('acme', 'alice');
create temp table run as
select * from public.run_saved_search('00000000-0000-4000-8000-000000000001', p_limit => 1);
select results_eq(
  $$select pg_temp.messages(logs), stats is null, ts_from, ts_to from run$$,
  $$values ('b', true, now() - interval '1 hour', now())$$,
  'a page of records without statistics'
);
select results_eq(
  $$select s.run_count, s.last_run_at
    from public.get_saved_search('00000000-0000-4000-8000-000000000001') s$$,
  $$values (1::bigint, now())$$,
  'the run counts'
);
select is(
  (
    select pg_temp.messages(r.logs)
    from run, public.run_saved_search(
      '00000000-0000-4000-8000-000000000001', p_cursor => run.next_cursor
    ) r
  ),
  'a', 'the next page'
);
select is(
  (public.get_saved_search('00000000-0000-4000-8000-000000000001')).run_count, 1::bigint,
  'is part of the same run'
);
select results_eq(
  $$select r.logs, r.next_cursor, r.ts_from, r.ts_to, r.stats::text
    from public.run_saved_search('00000000-0000-4000-8000-000000000002', 'now-150s') r$$,
  $$values (
    '{}'::public.logloom_log_record[], null::text, now() - interval '150 seconds', now(),
    '{"(\"{\"\"level\"\": \"\"error\"\"}\",1,\"{\"\"count\"\": 1}\",2,{})",'
      '"(\"{\"\"level\"\": \"\"info\"\"}\",1,\"{\"\"count\"\": 1}\",2,{})"}'
  )$$,
  'statistics if the query aggregates, without records'
);
select is(
  cardinality(
    (public.run_saved_search('00000000-0000-4000-8000-000000000002', p_limit => 1)).stats
  ),
  1, 'p_limit limits statistics, too'
);
select is(
  (public.get_saved_search('00000000-0000-4000-8000-000000000002')).run_count, 2::bigint,
  'they count as runs, too'
);

select pg_temp.act_as_user('acme', 'bob');
select is(
  pg_temp.messages((public.run_saved_search('00000000-0000-4000-8000-000000000001')).logs), 'b a',
  'a colleague runs a shared search'
);
select results_eq(
  $$select s.run_count, s.updated_at = s.created_at, s.created_by
    from public.get_saved_search('00000000-0000-4000-8000-000000000001') s$$,
  $$values (2::bigint, true, 'alice')$$,
  'which counts, too, and changes nothing else'
);
select throws_ok(
  $$select public.run_saved_search('00000000-0000-4000-8000-000000000002')$$, 'PT404',
  'Saved search not found', 'but not a private one'
);
select logloom_private.note_saved_search_run('00000000-0000-4000-8000-000000000002');
select pg_temp.act_as_user('umbrella', 'alice');
select throws_ok(
  $$select public.run_saved_search('00000000-0000-4000-8000-000000000001')$$, 'PT404',
  'Saved search not found', 'nor can another tenant'
);
select logloom_private.note_saved_search_run('00000000-0000-4000-8000-000000000001');
select pg_temp.act_as_postgres();
select results_eq(
  $$select run_count from logloom.saved_searches order by id$$, $$values (2::bigint), (2::bigint)$$,
  'neither can count a run'
);
select pg_temp.act_as_user('acme', 'alice');
select throws_ok(
  'select public.run_saved_search()', 'PT400', 'Missing required parameter: p_id', 'without p_id'
);
select throws_ok(
  $$select public.run_saved_search('00000000-0000-4000-8000-000000000001', p_limit => 0)$$,
  'PT400', 'Invalid p_limit: 1 to 1000', 'p_limit'
);

select * from finish();
rollback;
