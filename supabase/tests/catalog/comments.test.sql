begin;
select plan(3);

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
select is_empty(
  $$select c.conrelid::regclass::text, c.conname
    from pg_constraint c
    where c.contype = 'c'
      and c.conrelid in ('logloom.saved_searches'::regclass, 'logloom.alert_rules'::regclass)
      and coalesce(obj_description(c.oid, 'pg_constraint'), '')
        !~ '^Invalid p_\w+: [^\n]+\n[^\n]+$'$$,
  'a constraint that an operation runs into says what is wrong and how to mend it'
);

select * from finish();
rollback;
