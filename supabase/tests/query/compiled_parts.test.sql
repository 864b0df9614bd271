begin;
set local timezone = 'UTC';
select plan(45);

-- Searches, counts and alerts rely on these properties of compiled queries.
create function pg_temp.filter(p_query text)
returns text
language sql
as $$ select (logloom_private.compile_query(p_query, '2026-11-21 12:00:00+00')).filter $$;

-- Conditions for indexes and partition pruning are not wrapped.
select is(pg_temp.filter(query), expected, query)
from (values
  ('level:error service:openssh', $$((l.level = 'error') and (l.service = 'openssh'))$$),
  ('service:(a OR b)', $$(l.service in ('a', 'b'))$$),
  ('level:>=warn', $$(l.level in ('warn', 'error'))$$),
  ('level:>error', 'false'),
  ('"Failed Ä%"', $$(lower(l.msg collate pg_c_utf8) like e'%failed ä\\%%')$$),
  ('route:/api/*', $$(l.route like '/api/%')$$),
  ('host:[a TO n}', $$(l.host collate "C" >= 'a' and l.host collate "C" < 'n')$$),
  ('msg:~"a.b"', $$(l.msg collate "C" ~ 'a.b')$$),
  ('msg:~"(?i)A\.B"', $$(lower(l.msg collate pg_c_utf8) collate "C" ~ e'a\\.b')$$),
  ('-env:prod', $$((l.env = 'prod') is not true)$$),
  ('ts:>now-15m', $$(l.ts >= '2026-11-21T11:45:00.000001Z'::timestamptz)$$),
  (
    'ts:2026-11-21',
    $$(l.ts >= '2026-11-21T00:00:00.000000Z'::timestamptz and $$
      || $$l.ts < '2026-11-22T00:00:00.000000Z'::timestamptz)$$
  ),
  ('id:00000000-ABCD-4000-8000-000000000003', $$(l.id = '00000000-abcd-4000-8000-000000000003')$$),
  (
    'attrs.n:>=0.50',
    $$(case jsonb_typeof((l.attrs -> 'n')) when 'number' then (l.attrs -> 'n') >= '0.5'$$
      || $$ when 'string' then logloom_private.text_number((l.attrs -> 'n') #>> '{}')$$
      || $$ >= '0.5'::numeric end)$$
  ),
  ('attrs.a.b:x', $$(coalesce(nullif(l.attrs #> '{a,b}', 'null'), l.attrs -> 'a.b') @> '"x"')$$),
  ('attrs.a.b.0.c."d ,}".e:*', $$((l.attrs #> '{a,b}' -> '0' #> '{c,"d ,}",e}') <> 'null')$$),
  ('attrs."it''s":*', $$((l.attrs -> 'it''s') <> 'null')$$)
) v (query, written) cross join lateral (select replace(written, 'e''', 'E''') as expected) e;

-- A tree can be written for another alias.
select is(
  logloom_private.query_sql((logloom_private.compile_query('level:error -service:a')).tree, 'c'),
  $$((c.level = 'error') and ((c.service = 'a') is not true))$$,
  'a tree works over another alias'
);

select is(
  (
    select logloom_private.query_reads(jsonb_build_array(c.tree, c.plan))
    from logloom_private.compile_query(query) c
  ),
  reads, 'reads of ' || query
)
from (values
  ('', '{}'::text[]),
  ('env:*', '{env}'),
  ('level:>error', '{}'),
  ('level:error OR -(service:a x ts:>now)', '{level,msg,service,ts}'),
  ('@a:1 attrs.x.y:* attrs."b.c":2', '{attrs.a,attrs.b.c,attrs.x,attrs.x.y}'),
  ('a | json msg | where @b:c | fields ts, host', '{attrs.b,host,msg,ts}'),
  ('| p95(@n), count() by (5m), env', '{attrs.n,env}'),
  ('level:>error | count_distinct(@"it''s")', '{attrs.it''s}')
) v (query, reads);
select set_eq(
  $$select unnest(logloom_private.query_reads((logloom_private.compile_query('any:x')).tree))$$,
  $$select f.name
    from unnest(logloom_private.record_fields()) f
    where f.sent and f.name <> 'ts'$$,
  'any reads all fields of an event except its time'
);

select is(
  (select format('%s %s', coalesce(c.ts_from::text, '-'), coalesce(c.ts_to::text, '-'))
    from logloom_private.compile_query(query, '2026-11-21 12:00:00+00') c),
  expected, 'span of ' || query
)
from (values
  ('a', '- -'),
  ('ts:2026-11-21', '2026-11-21 00:00:00+00 2026-11-22 00:00:00+00'),
  ('a ts:>=now-1h', '2026-11-21 11:00:00+00 -'),
  ('a (ts:<=now (b ts:>now-1d))', '2026-11-20 12:00:00.000001+00 2026-11-21 12:00:00.000001+00'),
  ('a OR ts:now', '- -'),
  ('-ts:>now', '- -'),
  ('received_at:now', '- -')
) v (query, expected);

-- Unless the caller gives another time, "now" is the time of the transaction.
select is(
  (logloom_private.compile_query('ts:<now')).ts_to, now(), 'now is the transaction''s by default'
);

-- * reads no field.
select is(
  (select row(c.tree, c.filter)::text from logloom_private.compile_query('*') c),
  (select row(c.tree, c.filter)::text from logloom_private.compile_query('') c),
  '* compiles like the empty filter'
);

select is(
  (logloom_private.compile_query(query)).blank, expected, 'blank: ' || coalesce(query, 'null')
)
from (values (null, true), ('', true), (e' \t\u00a0\r\n', true), ('*', false), ('|count()', false))
  v (query, expected);

select is(
  (select row(c.aggregate, c.aggregate_field, c.by_fields, c.by_sql)::text
    from logloom_private.compile_query(query) c),
  expected::text, 'aggregate of ' || query
)
from (values
  ('a', row(null::text, null::text, '{}'::text[], '{}'::text[])),
  ('a|rate()', row('rate', null::text, '{}'::text[], '{}'::text[])),
  ('| count( ) by level ,env', row(
    'count', null::text, '{level,env}'::text[], '{(l.level),(l.env)}'::text[])),
  ('route:* | p95 (attrs."a,b") by attrs.x.y', row(
    'p95', 'attrs."a,b"', '{attrs.x.y}'::text[],
    array[$$(coalesce(nullif(l.attrs #> '{x,y}', 'null'), l.attrs -> 'x.y') #>> '{}')$$]))
) v (query, expected);

select * from finish();
rollback;
