begin;
\ir ../actors.psql
\ir records.psql
select plan(14);

select pg_temp.add_records($$[
  {"ago": "10 minutes", "msg": "user 17 logged in from 10.0.0.1:80", "service": "api", "host": "a"},
  {"ago": "9 minutes", "msg": "user 18 logged in from 10.0.0.2:81", "service": "api", "host": "a"},
  {"ago": "8 minutes", "msg": "job 5f0c8c0e-93d5-4cf0-8a3c-1f6c1e0f7a52 done", "service": "job"},
  {"ago": "7 minutes", "msg": "{\"user\": \"bob\", \"ms\": 5}", "service": "api", "host": "a"},
  {"ago": "6 minutes", "msg": "lvl=info ms=7 user=\"bob b\"", "service": "api", "host": "b"}
]$$);
select pg_temp.act_as_user('acme', 'alice');

select results_eq(
  $$select s."group" ->> 'pattern', s.value, s."values" ->> 'example', s.total_groups
    from public.log_stats('service:(api job) -lvl -bob | patterns') s$$,
  $$values
    ('user <*> logged in from <*>', 2::double precision, 'user 17 logged in from 10.0.0.1:80',
      2::bigint),
    ('job <*> done', 1, 'job 5f0c8c0e-93d5-4cf0-8a3c-1f6c1e0f7a52 done', 2)$$,
  'patterns are messages without numbers, ids and addresses'
);
select is(
  (select s.value from public.log_stats('| json msg | where @user:bob | sum(@ms)') s),
  5::double precision, 'json adds attributes for later stages'
);
select is(
  (select s."values" from public.log_stats(
    '| count() if (msg:*\"bob*) as bobs, count() if (host:"a") as of_a'
  ) s),
  '{"bobs": 2, "of_a": 3}', 'a quote that is escaped in a condition begins no text'
);
select is(
  (select s."group" from public.log_stats('lvl | logfmt msg | max(@ms) by @user') s),
  '{"@user": "bob b"}', 'and so does logfmt'
);
select is(
  (select (p.logs[1]).attrs from public.search_logs('lvl | logfmt msg | fields @ms, @lvl') p),
  '{"ms": 7, "lvl": "info"}', 'a page shows them'
);
select is(
  (select cardinality(p.logs) || ' ' || (p.next_cursor is null)
    from public.search_logs('| limit 2') p),
  '2 true', 'limit ends pages'
);
select is(
  (select cardinality(p.logs) || ' ' || (p.next_cursor is null)
    from public.search_logs('| limit 3', p_limit => 2) p),
  '2 false', 'and counts over several pages'
);
select throws_ok(
  $$select public.search_logs('| sort by ts', p_order => 'desc')$$, 'PT400',
  'Invalid p_order: p_query_dsl sorts by ts asc', 'two orders'
);
select is(
  (select string_agg(split_part(c.msg, ' ', 2), ' ') from public.get_log_context(
    (select (p.logs[1]).id from public.search_logs('"user 18"') p), p_before => 5, p_after => 5
  ) c),
  '17 18 "bob",', 'the context of a record has the same host and service, in time order'
);
select is(
  (select jsonb_path_query_array(to_jsonb(s.series), '$[*].group') || to_jsonb(s.interval_seconds)
    from public.log_series('| count() by host', p_buckets => 1) s),
  '[{"host": "a"}, {"host": "b"}, {"host": null}, 3600]', 'a series for each group'
);
select is(
  (select sum((p ->> 1)::numeric) from public.log_series('| rate() by service') s,
    unnest(s.series) e, jsonb_array_elements(e.points) p),
  5::numeric, 'rate in a series is per minute'
);
create function pg_temp.attributes(p_count integer)
returns text
language sql
return (select string_agg('@a' || n, ', ') from generate_series(1, p_count) n);
select is(
  (select cardinality(s.series)
    from public.log_series('| count() by ' || pg_temp.attributes(150)) s),
  1, 'a series can group by 150 fields'
);
select throws_ok(
  $$select public.search_logs('| fields ' || pg_temp.attributes(51))$$, 'PT400',
  'More than 50 fields', 'fields takes at most 50 fields'
);
select is(
  (select (w.warnings[1]).suggestion from public.log_stats('user or job') w), 'user OR job',
  'each row has the warnings'
);

select * from finish();
rollback;
