begin;
\ir ../actors.psql
\ir records.psql
select plan(3);

-- Hosts and services of 3,000 and 60,000 characters that differ only at the end, with characters
-- that are special in patterns.
create function pg_temp.named(p_letters text, p_length integer, p_end text)
returns text
language sql
return repeat(p_letters, p_length / 4) || p_end;
select pg_temp.add_records(
  jsonb_agg(jsonb_build_object(
    'id', md5('record ' || i), 'ts', '2026-11-02T10:00:00Z'::timestamptz + i * interval '1 second',
    'msg', 'record ' || i,
    'host', pg_temp.named('a%_\', length, (i % 2)::text),
    'service', pg_temp.named('b%_\', length, case when i % 30 > 20 then '2' else '1' end)
  )),
  1
)
from (
  select i, case when i <= 30 then 3000 else 60000 end as length from generate_series(1, 60) i
) r \g /dev/null
select pg_temp.act_as_user('acme', 'alice');
create function pg_temp.around(p_record integer, p_before integer, p_after integer)
returns text[]
language sql
return (
  select array_agg(substr(c.msg, 8) order by c.n)
  from (
    select c.msg, row_number() over () as n
    from public.get_log_context(md5('record ' || p_record)::uuid, null, p_before, p_after) c
  ) c
);
select is(
  pg_temp.around(7, 2, 3), '{3,5,7,9,11,13}'::text[],
  'neighbours on a long host have exactly this host'
);
select is(pg_temp.around(18, 1, 499), '{16,18,20,30}'::text[], 'and exactly this service');
select is(
  pg_temp.around(37, 499, 499), '{31,33,35,37,39,41,43,45,47,49}'::text[],
  'also if only the beginning of a very long host is searched for'
);

select * from finish();
rollback;
