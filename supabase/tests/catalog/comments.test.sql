begin;
select plan(2);

select is_empty(
  $$select c.oid::regclass::text
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('logloom', 'logloom_private') and c.relkind in ('r', 'p')
    and not c.relispartition
      and obj_description(c.oid, 'pg_class') is null$$,
  'every table has a comment'
);
select is_empty(
  $$select t.typname
    from pg_type t
    left join pg_class c on c.oid = t.typrelid
    where t.typnamespace = 'public'::regnamespace
      and (t.typtype = 'e' or c.relkind = 'c')
      and coalesce(obj_description(t.oid, 'pg_type'), obj_description(c.oid, 'pg_class')) is null$$,
  'every type of a result has a comment'
);
select * from finish();
rollback;
