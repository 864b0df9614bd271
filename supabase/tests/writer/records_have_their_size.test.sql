-- The size of a record is the length of its JSON text as operations return it: in the queue, as a
-- row and in a block.
begin;
\ir ../actors.psql
\ir ../ingest.psql
select plan(10);

-- All records are from yesterday, so that one block has them.
create temp table times as
select logloom_private.day_start(logloom_private.utc_day(now()) - 1) as day;
grant select on times to public;

select pg_temp.send_request(
  p_tenant_id => 'ac"me',
  p_ts => array[
    t.day, t.day + interval '0.1 s', t.day + interval '0.120 s', t.day + interval '0.123456 s',
    t.day + interval '1 s', t.day + interval '2 s'
  ],
  p_level => array['warn', null, 'info', null, 'debug', 'error'],
  p_msg => array[
    'disk full', null, e'"quoted" \\ and \x01\t\n', 'ünïcödé 🎈', '', repeat('x', 5000)
  ],
  p_service => array['db', null, 'a "b"', null, 'db', 'db'],
  p_env => array['prod', null, null, null, null, 'prod'],
  p_req_id => array['r1', null, null, null, null, null],
  p_user_id => array['u1', null, null, null, null, null],
  p_route => array['/a', null, null, null, null, null],
  p_host => array['h1', null, null, null, null, 'h2'],
  p_attrs => array[
    '{"n": 1, "s": "a\"\u0001"}', null, '{"big": 1e300, "l": [1, 2, {"a": null}]}', '{}', null,
    '{"é": "ü"}'
  ]::jsonb[]
)
from times t;
-- An event without ts gets its time of receipt. The length of its text does not depend on the time
-- zone.
set local timezone = 'Asia/Kathmandu';
set local datestyle = 'German';
select pg_temp.send_request(p_tenant_id => 'ac"me', p_ts => array[null, t.day + interval '3 s'])
from times t;
reset timezone;
reset datestyle;

select is(
  (
    select array_agg(cardinality(q.record_bytes) order by q.batch_id)
    from logloom_private.queue q
    where q.tenant_id = 'ac"me'
  ),
  array[6, 2], 'the queue has a size for each event'
);
select logloom_private.flip_queue();
select logloom_private.write_step();

create function pg_temp.answered_bytes(p_log logloom.logs) returns integer language sql as $$
  select octet_length(
    to_json(jsonb_populate_record(null::public.logloom_log_record, to_jsonb(p_log)))::text
  )
$$;

select is(
  (
    select array_agg(l.record_bytes order by l.ts, l.id)
    from logloom.logs l where l.tenant_id = 'ac"me'
  ),
  (
    select array_agg(pg_temp.answered_bytes(l) order by l.ts, l.id)
    from logloom.logs l where l.tenant_id = 'ac"me'
  ),
  'a row has the size of its JSON text'
);
select is(
  (select count(*)::integer from logloom.logs l where l.tenant_id = 'ac"me'), 8,
  'all records are stored'
);

select pg_temp.act_as_user('ac"me', 'alice');
select is(
  (
    select octet_length(to_json(s.logs)::text)
    from public.search_logs(p_ts_from => 'now-3d', p_ts_to => 'now+1h') s
  ),
  -- The JSON array adds two brackets, and a comma between records.
  1 + 8 + (
    select sum(octet_length(to_json(r)::text))::integer
    from public.search_logs(p_ts_from => 'now-3d', p_ts_to => 'now+1h') s, unnest(s.logs) r
  ),
  'a search answers as many bytes as its records and separators have'
);
reset role;

select is(
  (select sum(logloom_private.bytes_of_record(l)) from logloom.logs l where l.tenant_id = 'ac"me'),
  (select sum(l.record_bytes) from logloom.logs l where l.tenant_id = 'ac"me'),
  'bytes_of_record returns record_bytes'
);
-- Records from before the column record_bytes.
create temp table unmeasured as
select l.* from logloom.logs l where l.tenant_id = 'ac"me';
update unmeasured set record_bytes = null;
select is(
  (
    select array_agg(logloom_private.bytes_of_record(row(u.*)::logloom.logs) order by u.ts, u.id)
    from unmeasured u
  ),
  (
    select array_agg(l.record_bytes order by l.ts, l.id)
    from logloom.logs l where l.tenant_id = 'ac"me'
  ),
  'and measures a record without it'
);

create temp table written as
select l.id, l.record_bytes from logloom.logs l, times t
where l.tenant_id = 'ac"me' and l.ts < t.day + interval '1 day';
select logloom_private.seal_block(
  'ac"me', array[(select logloom_private.utc_day(t.day) from times t)]
);
select results_eq(
  $$select r.id, r.record_bytes
    from logloom_private.blocks c, logloom_private.sealed_records(c, null, null) r
    where c.tenant_id = 'ac"me' order by r.id$$,
  $$select w.id, w.record_bytes from written w order by w.id$$,
  'a sealed record has the size of its row'
);
select results_eq(
  $$select r.record_bytes, r.msg
    from logloom_private.blocks c,
      logloom_private.sealed_records(c, array[1, 3, 7], array['record_bytes']) r
    where c.tenant_id = 'ac"me'$$,
  $$select x.record_bytes, null::text
    from logloom_private.blocks c, logloom_private.sealed_records(c, null, null)
      with ordinality x
    where c.tenant_id = 'ac"me' and x.ordinality in (1, 3, 7) order by x.ordinality$$,
  'it can be read without the texts'
);

-- Older blocks have no sizes.
delete from logloom_private.block_columns k
where k.tenant_id = 'ac"me' and k.name = 'record_bytes';
select is(
  (
    select array_agg(r.record_bytes)
    from logloom_private.blocks c, logloom_private.sealed_records(c, null, null) r
    where c.tenant_id = 'ac"me'
  ),
  array_fill(null::integer, array[7]), 'in an older block it is null'
);
select results_eq(
  $$select r.id, logloom_private.bytes_of_record(r)
    from logloom_private.blocks c, logloom_private.sealed_records(c, null, null) r
    where c.tenant_id = 'ac"me' order by r.id$$,
  $$select w.id, w.record_bytes from written w order by w.id$$,
  'and bytes_of_record measures the records'
);

select * from finish();
rollback;
