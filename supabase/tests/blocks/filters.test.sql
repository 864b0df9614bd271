-- A search for one request reads only the blocks that may contain it.
begin;
\ir ../actors.psql
\ir ../search/records.psql
select plan(23);

create temp table filter as
select logloom_private.value_filter(array_agg('request ' || i)) as bits
from generate_series(1, 1000) i;
select is(
  (
    select count(*)
    from filter f, generate_series(1, 1000) i
    where logloom_private.filter_may_hold(f.bits, array['other', 'request ' || i])
  ),
  1000::bigint, 'a stored value always passes'
);
select cmp_ok(
  (
    select count(*)
    from filter f, generate_series(1001, 2000) i
    where logloom_private.filter_may_hold(f.bits, array['request ' || i])
  ),
  '<', 60::bigint, 'an absent value rarely passes'
);

-- The first block has each request once, the second has some requests many times, the third has no
-- requests.
insert into logloom.tenants (tenant_id, plan_id) values ('acme', 'pro');
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object(
    'ts', date_trunc('day', now()) - interval '9 days' + i * interval '1 second',
    'msg', 'event ' || i,
    'req_id', case when i <= 1000 then md5('a' || i) when i <= 2000 then 'b' || i % 5 end
  ))
)
from generate_series(1, 2100) i;
update logloom_private.settings set seal_block_records = 1000;
select pg_temp.repeat_while(
  $$logloom_private.seal_block(
    'acme', array[logloom_private.utc_day(date_trunc('day', now()) - interval '9 days')]
  ) > 0$$
);
create function pg_temp.candidates(p_query text)
returns text
language sql
return (
  select string_agg(n.number::text, ' ' order by n.number)
  from (
    select c.block_id, row_number() over (order by c.block_id) as number
    from logloom_private.blocks c where c.tenant_id = 'acme'
  ) n
  where n.block_id in (
    select logloom_private.candidate_blocks(
      'acme', '-infinity', 'infinity', (logloom_private.compile_query(p_query, now())).tree
    )
  )
);
select is(pg_temp.candidates('req_id:' || md5('a7')), '1', 'a request in one block');
select is(
  pg_temp.candidates('event req_id:(' || md5('a7') || ' OR b1)'), '1 2', 'one of two requests'
);
select is(pg_temp.candidates('req_id:b9'), null, 'no block has the request');
select is(
  pg_temp.candidates('req_id:b9 OR event'), '1 2 3', 'other branches of OR need every block'
);
select is(pg_temp.candidates('-req_id:b1'), '1 2 3', 'a negated request needs every block');
select pg_temp.act_as_user('acme', 'alice');
create function pg_temp.counted(p_query text)
returns double precision
language sql
return (select s.value from public.log_stats(p_query || ' | count()', 'now-10d', 'now') s);
select is(
  pg_temp.messages((public.search_logs('req_id:' || md5('a7'), 'now-10d', 'now')).logs),
  'event 7', 'the record is found'
);
select is(pg_temp.counted('req_id:(b1 OR b2)'), 400::double precision, 'records are counted');
select is(
  pg_temp.counted(format('req_id:(%1$s OR %1$s OR %2$s)', md5('a7'), md5('a9'))),
  2::double precision, 'a value that is named twice is counted once'
);
select is(
  pg_temp.counted('-req_id:' || md5('a7')), 2099::double precision,
  'a negated request finds records without a request, too'
);
select is(
  pg_temp.counted('req_id:b9 OR "event 2100" OR req_id:' || md5('a1')),
  2::double precision, 'blocks without the value have other matches'
);

-- Dictionaries and columns of numbers give the same answers as rows.
select pg_temp.act_as_postgres();
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object(
    'ts', date_trunc('day', now()) - interval '8 days' + i * interval '1 second',
    'msg', 'shaped ' || i, 'env', (array['Prod', 'test'])[1 + i % 2],
    'attrs', jsonb_build_object('took', i * i)
  ))
)
from generate_series(1, 60) i;
select logloom_private.seal_block(
  'acme', array[logloom_private.utc_day(date_trunc('day', now()) - interval '8 days')]
);
select pg_temp.act_as_user('acme', 'alice');
select is(pg_temp.counted('shaped env:i=PROD'), 30::double precision, 'ignoring case');
select is(pg_temp.counted('attrs.took.ms:>5'), 0::double precision, 'a number has no members');
select is(pg_temp.counted('attrs.took:>5'), 58::double precision, 'the number itself is found');
select pg_temp.act_as_postgres();
create function pg_temp.decided(p_query text)
returns text
language sql
return (
  select string_agg(bit_count(b.bits)::text, ' of ' order by b.n)
  from logloom_private.blocks c
  cross join lateral unnest(
    logloom_private.node_bits(c, (logloom_private.compile_query(p_query, now())).tree)
  ) with ordinality b (bits, n)
  where c.tenant_id = 'acme' and c.records = 60
);
select is(pg_temp.decided('any:prod'), '30 of 30', 'any text is found without reading a record');
select is(pg_temp.decided('any:=1600'), '1 of 1', 'so is a number in attrs');
select is(pg_temp.decided('msg:w=absent'), '0 of 0', 'without its text there is no word');
select is(pg_temp.decided('msg:w=shaped'), '0 of 60', 'with its text the row filter decides');
select is(
  pg_temp.decided('any:w=prod'), '30 of 30', 'a column decides a word without the row filter'
);
select is(
  (logloom_private.compile_query('msg:="Took 7 ms"', now())).tree -> 'template',
  '{"by": "equal", "values": ["Took 0 ms"], "decides": false, "literal": "Took 0 ms", '
    '"words": ["took ", " ms"]}',
  'a whole message is searched by its text and its words'
);
select is(
  (
    logloom_private.compile_query('msg:=("shaped 7" OR "event 9")', now())
  ).tree -> 'template' -> 'words',
  '[]', 'one of several messages has no words in common'
);
select is(
  array(
    select (
      select count(*)
      from logloom_private.sealed_rows(
        'acme', '-infinity', 'infinity', (logloom_private.compile_query(q, now())).tree, null
      ) r
    )
    from unnest(array[
      'msg:="shaped 7"', 'msg:="Shaped 7"', 'msg:i="SHAPED 7"', 'msg:=shaped',
      'msg:=("shaped 7" OR "shaped 9")', '-msg:="shaped 7" shaped'
    ]) with ordinality q (q, n)
    order by n
  ),
  array[1, 0, 1, 0, 2, 59]::bigint[], 'whole messages are found, with and without case'
);

select * from finish();
rollback;
