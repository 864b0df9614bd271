begin;
\ir ../actors.psql
\ir records.psql
select plan(48);

select pg_temp.add_records($$[
  {"ago": "10 minutes", "msg": "a", "level": "error", "service": "api", "env": "prod",
    "req_id": "r1", "user_id": "u1", "route": "/x", "host": "h1", "attrs": {"n": 1}},
  {"ago": "9 minutes", "msg": "b", "level": "info"},
  {"ago": "8 minutes", "msg": "c", "level": "error"},
  {"ago": "7 minutes", "msg": "d", "level": "warn"},
  {"ago": "7 minutes", "msg": "e"},
  {"ago": "60 minutes", "msg": "first"},
  {"ago": "60 minutes 0.000001 seconds", "msg": "before"},
  {"ago": "0 minutes", "msg": "now"},
  {"ago": "5 minutes", "msg": "not yours", "tenant": "umbrella", "level": "error"}
]$$);
select pg_temp.act_as_user('acme', 'alice');

create temp table page as select * from public.search_logs();
select is(
  (select pg_temp.messages(logs) from page), 'e d c b a first',
  'without parameters: the last hour, newest first, its start inclusive, its end exclusive'
);
select results_eq(
  $$select next_cursor, ts_from, ts_to from page$$,
  $$values (null::text, now() - interval '1 hour', now())$$,
  'the last page has no cursor, but the range'
);
select is(
  (select to_jsonb(l) - 'id' from page, unnest(logs) l where l.msg = 'a'),
  jsonb_build_object(
    'tenant_id', 'acme', 'ts', now() - interval '10 minutes', 'received_at', now(),
    'level', 'error', 'msg', 'a', 'service', 'api', 'env', 'prod', 'req_id', 'r1',
    'user_id', 'u1', 'route', '/x', 'host', 'h1', 'attrs', '{"n": 1}'::jsonb
  ),
  'a record has all fields of the event'
);
select is(
  (select to_jsonb(l) - 'id' from page, unnest(logs) l where l.msg = 'e'),
  jsonb_build_object(
    'tenant_id', 'acme', 'ts', now() - interval '7 minutes', 'received_at', now(),
    'level', null, 'msg', 'e', 'service', null, 'env', null, 'req_id', null,
    'user_id', null, 'route', null, 'host', null, 'attrs', null
  ),
  'and null for missing ones'
);
select is(pg_temp.messages((public.search_logs('level:error')).logs), 'c a', 'the query filters');
select is(
  (public.search_logs('level:[error TO debug]')).logs, '{}',
  'a filter that no record matches finds none'
);
select is(
  (public.search_logs('level:[error TO debug] AND msg:"c"')).logs, '{}', 'also with a costly term'
);
select is(
  (public.search_logs('level:[error TO debug] AND host:=h1')).logs, '{}', 'and with a quick one'
);
select is(
  pg_temp.messages((public.search_logs('NOT level:[error TO debug] AND msg:~"c|first"')).logs),
  'c first', 'its negation matches every record'
);
select is(
  (select coalesce(sum(s.value), 0) from public.log_stats('level:[error TO debug] | count()') s),
  0::double precision, 'and it counts none'
);
select is(
  (public.search_logs('msg:"not yours"')).logs, '{}', 'another tenant''s records are not found'
);
select is(
  pg_temp.messages((public.search_logs(p_order => 'asc')).logs), 'first a b c d e', 'oldest first'
);
select is(
  pg_temp.messages((public.search_logs(p_ts_from => 'now-9m', p_ts_to => 'now-7m')).logs),
  'c b', 'a range'
);
select is(
  pg_temp.messages((public.search_logs(p_ts_to => 'now-7m')).logs),
  'c b a first before', 'a range without a start is an hour long'
);
select is(
  pg_temp.messages((public.search_logs('ts:<now-8m')).logs), 'b a first',
  'ts in the query narrows the range'
);
select is(
  pg_temp.messages((public.search_logs('ts:>now-1d')).logs), 'e d c b a first',
  'but never widens it'
);
select is((public.search_logs('ts:<2020-01-01')).logs, '{}', 'an empty range finds nothing');

-- Reads pages of one record each. Some records have the same time.
create temp table walk as
with recursive pages as (
  select 1 as n, p.*
  from public.search_logs(p_limit => 1) p
  union all
  select w.n + 1, p.*
  from pages w, public.search_logs(p_limit => 1, p_cursor => w.next_cursor) p
  where w.next_cursor is not null
)
select * from pages;
select is(
  (select string_agg(pg_temp.messages(logs), ' ' order by n) from walk), 'e d c b a first',
  'pages skip nothing and repeat nothing'
);
select is((select count(*)::integer from walk), 6, 'and the last page is not empty');
select is(
  (
    with recursive pages as (
      select 1 as n, p.* from public.search_logs(p_limit => 4, p_order => 'asc') p
      union all
      select w.n + 1, p.*
      from pages w,
        public.search_logs(p_limit => 4, p_order => 'asc', p_cursor => w.next_cursor) p
      where w.next_cursor is not null
    )
    select string_agg(pg_temp.messages(logs), ' / ' order by n) from pages
  ),
  'first a b c / d e', 'oldest first, too'
);

create temp table cursor as
select next_cursor, ts_from, ts_to
from public.search_logs('ts:>now-30m', p_limit => 2, p_ts_to => 'now-1m');
select pg_temp.act_as_postgres();
select pg_temp.add_records($$[
  {"ago": "6 minutes", "msg": "newer"}, {"ago": "9 minutes 30 seconds", "msg": "between"}
]$$);
select pg_temp.act_as_user('acme', 'alice');
select results_eq(
  $$select pg_temp.messages(p.logs), p.ts_from, p.ts_to
    from cursor c, public.search_logs('ts:>now-30m', p_cursor => c.next_cursor) p$$,
  $$select 'c b between a', ts_from, ts_to from cursor$$,
  'new records do not move later pages; a cursor keeps the range of the first page'
);
select is(pg_temp.messages(p.logs), 'c b between a', 'a cursor of version 1.0.0 still works')
from cursor c
cross join encode(convert_to(pg_temp.parts_of(c.next_cursor), 'UTF8'), 'base64') b
cross join public.search_logs('ts:>now-30m', p_cursor => translate(b, e'+/=\n', '-_')) p;
select matches(next_cursor, '^[A-Za-z0-9_-]+$', 'a cursor needs no escaping') from cursor;

select throws_ok(
  format('select public.search_logs(p_cursor => %L)', c), 'PT400', 'Invalid p_cursor',
  'a broken cursor: ' || c
)
from unnest(array[
  '', 'x', 'not a cursor', '////', 'AAAA', left((select next_cursor from cursor), 20),
  (select next_cursor from cursor) || 'A', (public.tail_logs()).next_cursor,
  -- page desc 1 not-a-uuid 1 2 3
  'cGFnZSBkZXNjIDEgbm90LWEtdXVpZCAxIDIgMw'
]) c;
select throws_ok(
  format('select public.search_logs(p_order => %L, p_cursor => %L)', 'asc', next_cursor),
  'PT400', 'Invalid p_cursor: it belongs to the other p_order', 'a cursor of the other order'
)
from cursor;

select throws_ok(
  'select public.search_logs(' || c.arguments || ')', 'PT400', c.message, c.arguments
)
from (
  values
    ('p_limit => 0', 'Invalid p_limit: 1 to 1000'),
    ('p_limit => 1001', 'Invalid p_limit: 1 to 1000'),
    ('p_order => ''up''', 'Invalid p_order: desc or asc'),
    ('p_ts_from => ''now''', 'Invalid range: p_ts_from must be before p_ts_to'),
    ('p_ts_from => ''now+1s''', 'Invalid range: p_ts_from must be before p_ts_to'),
    ('p_ts_from => ''1969-12-31''', 'Invalid range: only the years 1970 to 9999'),
    ('p_ts_from => ''-infinity''', 'Invalid p_ts_from: not a time'),
    ('p_ts_from => ''01/02/2026''', 'Invalid p_ts_from: not a time'),
    ('p_ts_from => ''2026-11-20 10:00 PST''', 'Invalid p_ts_from: not a time'),
    ('p_ts_from => ''20261120''', 'Invalid p_ts_from: not a time'),
    ('p_ts_from => ''soon''', 'Invalid p_ts_from: not a time'),
    ('p_ts_to => ''now-1y''', 'Invalid p_ts_to: not a time'),
    ('p_ts_to => ''now-9999999999w''', 'Invalid p_ts_to: not a time'),
    ('p_ts_to => ''2026-02-30''', 'Invalid p_ts_to: not a time'),
    ('''* | count()''', 'Invalid p_query_dsl: this operation returns records, not count()')
) c (arguments, message);

select * from finish();
rollback;
