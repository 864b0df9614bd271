begin;
\ir ../actors.psql
\ir records.psql
select plan(36);

-- The test sets write_seq, so that it knows the write sequences.
select setval('logloom_private.write_seq', 999998) \g /dev/null

create temp table seen (name text primary key, messages text, cursor text, more boolean);
grant select, insert on seen to public;
-- Reads on from a page that was seen; without one, from now.
create function pg_temp.tail(p_query_dsl text, p_seen text, p_limit integer default null)
returns table (messages text, cursor text, more boolean)
language sql
as $$
  select pg_temp.messages(t.logs), t.next_cursor, t.more
  from public.tail_logs(p_query_dsl, (select cursor from seen where name = p_seen), p_limit) t
$$;
grant execute on function pg_temp.tail(text, text, integer) to public;

select pg_temp.act_as_user('acme', 'alice');
insert into seen select 'empty', * from pg_temp.tail('', null);
select results_eq(
  $$select messages, more from seen where name = 'empty'$$, $$values (null::text, false)$$,
  'nothing before the first record'
);

select pg_temp.act_as_postgres();
select pg_temp.add_records('[{"msg": "old", "level": "error"}]', 5);
select pg_temp.act_as_user('acme', 'alice');
insert into seen select 'start', * from pg_temp.tail('', null);
select results_eq(
  $$select messages, more from seen where name = 'start'$$, $$values (null::text, false)$$,
  'without a cursor no records'
);
select is((pg_temp.tail('', 'empty')).messages, 'old', 'a cursor from before the first record');
select is((pg_temp.tail('', 'start')).messages, null, 'nothing new');
select is(pg_temp.parts_of(t.cursor), pg_temp.parts_of(s.cursor), 'and the position stays')
from seen s, pg_temp.tail('', s.name) t where s.name = 'start';

select pg_temp.act_as_postgres();
select pg_temp.add_records($$[
  {"msg": "a", "level": "error"}, {"msg": "b", "level": "info"},
  {"msg": "not yours", "tenant": "umbrella"}
]$$, 6);
select pg_temp.add_records($$[
  {"msg": "c", "level": "error", "ago": "40 days"}, {"msg": "d", "ago": "-2 hours"}
]$$, 7);
select pg_temp.add_records('[{"msg": "e", "level": "error"}]', 8);
select pg_temp.act_as_user('acme', 'alice');
insert into seen select 'all', * from pg_temp.tail('', 'start');
select results_eq(
  $$select messages, more from seen where name = 'all'$$, $$values ('a b c d e', false)$$,
  'in the order of write_seq, also late events'
);
select is((pg_temp.tail('level:error', 'start')).messages, 'a c e', 'only matching records');
select is((pg_temp.tail('', 'all')).messages, null, 'none twice');
insert into seen select 'none', * from pg_temp.tail('msg:nothing', 'start');
select is(
  (select pg_temp.parts_of(cursor) from seen where name = 'none'),
  (select pg_temp.parts_of(cursor) from seen where name = 'all'),
  'the position moves on without matches, too'
);

insert into seen select 'page 1', * from pg_temp.tail('', 'start', 2);
insert into seen select 'page 2', * from pg_temp.tail('', 'page 1', 2);
insert into seen select 'page 3', * from pg_temp.tail('', 'page 2', 2);
select results_eq(
  $$select messages, more from seen where name like 'page _' order by name$$,
  $$values ('a b', true), ('c d', true), ('e', false)$$,
  'pages, with more until the last'
);
select is(
  (select pg_temp.parts_of(cursor) from seen where name = 'page 3'),
  (select pg_temp.parts_of(cursor) from seen where name = 'all'),
  'the last page ends where a single page would'
);
insert into seen select 'in a step', * from pg_temp.tail('', 'start', 1);
select is((pg_temp.tail('', 'in a step', 2)).messages, 'b c', 'a page may end within a step');

select pg_temp.act_as_postgres();
select logloom_private.compact_log_counts();
select is(
  (select max(n) from (select count(*) as n
    from logloom_private.log_writes group by day) d), 1::bigint,
  'one write_seq is kept for each day'
);
select pg_temp.act_as_user('acme', 'alice');
select is((pg_temp.tail('', 'start')).messages, 'a b c d e', 'an old cursor still finds all');
select is((pg_temp.tail('', 'empty')).messages, 'old a b c d e', 'and so does the oldest');

select pg_temp.act_as_postgres();
select is(
  (
    select array_agg(distinct r.name order by r.name)
    from (
      select substring(p.line from 'on (logs_\d{4}_\d\d_\d\d)') as name
      from pg_temp.plan_of(logloom_private.log_tail_sql(
        'acme', logloom_private.compile_query(''), 10, 5, 'ffffffff-ffff-ffff-ffff-ffffffffffff', 8,
        1000, false
      )) p (line)
    ) r
    where r.name is not null
  ),
  (
    select array_agg(d.name order by d.name)
    from (
      select distinct logloom_private.partition_name(logloom_private.utc_day(l.ts)) as name
      from pg_temp.all_records() l
      where l.tenant_id = 'acme'
    ) d
  ),
  'only days with write_seqs are read'
);
select pg_temp.act_as_user('acme', 'alice');

select is(
  pg_temp.messages((public.tail_logs('', pg_temp.cursor_of('tail', '999999'))).logs), null,
  'a cursor from the future finds nothing until then'
);

-- Write sequences are global: they would show when other tenants send.
select isnt(t.cursor, s.cursor, 'two cursors of one position differ')
from seen s, pg_temp.tail('', s.name) t where s.name = 'all';
select is(
  array_agg(distinct length(pg_temp.cursor_of('tail', n))), '{171}',
  'all cursors have the same length'
)
from unnest(array['9', '99999999']) n;
select throws_ok(
  $$select public.tail_logs(p_cursor => 'dGFpbCAx')$$, 'PT400',
  'Invalid p_cursor: it is from an earlier version of Logloom', 'an unencrypted cursor is refused'
);
select throws_ok(
  format(
    'select public.tail_logs(p_cursor => %L)',
    overlay(s.cursor placing case substr(s.cursor, n, 1) when 'A' then 'B' else 'A' end from n)
  ),
  'PT400', 'Invalid p_cursor', 'and one with a changed letter ' || n
)
from seen s, unnest(array[1, 44, 65, 170]) n where s.name = 'all';

select throws_ok(
  format('select public.tail_logs(p_cursor => %L)', c), 'PT400', 'Invalid p_cursor',
  'a broken cursor: ' || c
)
from unnest(array[
  '', 'x', (public.search_logs(p_limit => 1)).next_cursor
]) c;
select throws_ok(
  'select public.tail_logs(p_limit => 0)', 'PT400', 'Invalid p_limit: 1 to 1000', 'p_limit'
);
select throws_ok(
  $$select public.tail_logs('* | count()')$$, 'PT400',
  'Invalid p_query_dsl: this operation returns records, not count()', 'an aggregate'
);

-- The backlog
select is(
  pg_temp.messages((public.tail_logs(p_backlog => 2)).logs),
  (
    select string_agg(l.msg, ' ' order by l.ts, l.id)
    from unnest(
      (public.search_logs(p_limit => 2, p_ts_from => 'now-1d', p_ts_to => 'now+1d')).logs
    ) l
  ),
  'a backlog has the newest records, oldest first'
);
select is(
  pg_temp.parts_of((public.tail_logs(p_backlog => 2)).next_cursor),
  pg_temp.parts_of((public.tail_logs()).next_cursor), 'and the current cursor'
);
select is((public.tail_logs(p_backlog => 2)).more, false, 'without more');
select is(
  pg_temp.messages((public.tail_logs('msg:nothing-like-it', p_backlog => 5)).logs), null,
  'a backlog has matching records'
);
select is(
  cardinality((public.tail_logs('ts:*', (public.tail_logs()).next_cursor, p_backlog => 5)).logs), 0,
  'with a cursor there is no backlog'
);
select throws_ok(
  format('select public.tail_logs(p_backlog => %s)', b), 'PT400', 'Invalid p_backlog: 0 to 1000',
  'p_backlog ' || b
)
from unnest(array[-1, 1001]) b;

select * from finish();
rollback;
