-- Hosted Supabase preloads safeupdate for PostgREST. safeupdate refuses an update or delete without
-- a where clause, even within functions.
begin;
select plan(3);

-- Ignores comments. Strings stay, because they may be statements.
create function pg_temp.unsafe_statements(p_source text)
returns setof text
language sql
as $$
  select s.statement
  from regexp_split_to_table(regexp_replace(p_source, '--[^\n]*', '', 'g'), ';') s (statement)
  where s.statement ~* (
      '\mupdate\s+(only\s+)?(?!set\M)[\w.%]+(\s+(as\s+)?(?!set\M)\w+)?\s+set\M|'
      '\mdelete\s+from\M'
    )
    and s.statement !~* '\mwhere\M'
$$;

select is_empty(
  $$select p.oid::regprocedure, s
    from pg_proc p
    cross join pg_temp.unsafe_statements(concat(p.prosrc, pg_get_function_sqlbody(p.oid))) s
    where p.pronamespace in (
        'logloom'::regnamespace, 'logloom_private'::regnamespace, 'public'::regnamespace
      )
      and not exists (
        select from pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
      )$$,
  'every update and delete of our functions has a where clause'
);
select is(
  (
    select count(*)
    from unnest(array[
      'update logloom.tenants set plan_id = 1', 'update only a set b = 1',
      'update a as t set b = 1', E'update\n  a t\nset b = 1', 'delete from a', 'DELETE FROM a'
    ]) t (statement)
    cross join pg_temp.unsafe_statements('begin null; ' || t.statement || '; end;') s
  ),
  6::bigint, 'a statement without one is found, however it is written'
);
select is_empty(
  $$select s from pg_temp.unsafe_statements(
      'insert into a values (1) on conflict (b) do update set c = 1; select 1 for update;'
      ' update a set b = 1 where c; delete from a using b where a.c = b.c; -- delete from a'
    ) s$$,
  'other statements are not reported'
);

select * from finish();
rollback;
