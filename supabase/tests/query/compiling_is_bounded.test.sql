begin;
select plan(6);

-- Returns whether a query is compiled within the allowed steps, or is refused.
create function pg_temp.steps(p_query text)
returns text
language plpgsql
as $$
begin
  return case when (logloom_private.compile_query(p_query)).steps <= 20000 then 'bounded' end;
exception when sqlstate 'PT400' then
  return 'refused';
end;
$$;

create temporary table attacks (query text);
insert into attacks
select left(repeat(part, 400), 2040) || closing
from (
  values
    ('msg:~"(?i)[' || chr(128) || '-' || chr(126975) || '-' || chr(131071) || ']" ', ''),
    ('msg:~"(?i)' || repeat('[' || chr(192) || '-' || chr(591) || ']', 40) || '" ', ''),
    ('a ', ''), ('(', ''), ('-', 'a'), ('NOT ', 'a'), ('-(', ''), ('"a" ', ''), ('a:b ', ''),
    ('@a:1.5s ', ''), ('@"a".', ''), ('| json msg ', ''), ('| where a ', ''), ('|', ''),
    ('| count(),', ''), ('service:(a b c) ', ''), ('any:a ', ''), ('msg:~"[[:alpha:]]" ', ''),
    ('a|b|', ''), ('\a', ''), ('msg:w=a ', '')
) a (part, closing);
select is(
  (select count(*) from attacks a where pg_temp.steps(a.query) is null), 0::bigint,
  'compiling takes at most 20,000 steps, whatever is repeated'
);
select throws_ok(
  format('select logloom_private.compile_query(%L)', repeat(
    'msg:~"(?i)' || repeat('[' || chr(192) || '-' || chr(591) || ']', 45) || '" ', 4
  )),
  'PT400', 'The query is too complex: it takes more than 20000 steps to compile',
  'the error names the limit'
);
select throws_ok(
  format('select logloom_private.compile_query(%L)', repeat('a', 513)), 'PT400',
  'The query is too complex: its search texts have more than 512 characters in total',
  'and the limit of texts to search for'
);
select results_eq(
  $$
    select r[1] + n, r[1] + n + r[3]
    from (
      select array_agg(v order by i) as r
      from unnest(logloom_private.letter_cases()) with ordinality u (v, i)
      group by (i - 1) / 3
    ) runs, generate_series(0, r[2] - r[1]) n
    order by 1
  $$,
  $$
    select c, ascii(lower(chr(c) collate pg_c_utf8))
    from generate_series(128, 131071) c
    where c not between 55296 and 57343
      and ascii(lower(chr(c) collate pg_c_utf8)) not in (c, c + 1)
    order by 1
  $$,
  'letter_cases() agrees with lower()'
);
select is(
  logloom_private.query_sql(
    (logloom_private.compile_query('ts:>now-15m', '2026-03-03T12:00:00Z')).tree, 'l', '$1'
  ),
  '(l.ts >= ($1 + interval ''-899999999 microseconds''))',
  'a query relative to now is compiled once for any now'
);
select is(
  (logloom_private.compile_query('ts:>now-15m')).names_now
    and not (logloom_private.compile_query('ts:>2026-03-03 now')).names_now,
  true, 'names_now says whether a query is relative to now'
);

select * from finish();
rollback;
