begin;
select plan(3);

create temp table foreign_keys as
select c.oid, c.conrelid, c.conrelid::regclass::text as name, c.conname, c.conkey, c.confdeltype
from pg_constraint c
join pg_namespace n on n.oid = c.connamespace
where c.contype = 'f' and n.nspname in ('logloom', 'logloom_private', 'public')
and c.conparentid = 0;

select ok((select count(*) > 5 from foreign_keys), 'there are foreign keys to look at');
select is_empty(
  $$select f.name, f.conname
    from foreign_keys f
    where not exists (
      select
      from pg_index i
      where i.indrelid = f.conrelid
        and i.indpred is null
        and (i.indkey::smallint[])[0:cardinality(f.conkey) - 1] @> f.conkey
    )$$,
  'every foreign key has an index that begins with its columns'
);
select is_empty(
  $$select f.name, f.conname from foreign_keys f where f.confdeltype = 'a'$$,
  'every foreign key states what happens on delete'
);

select * from finish();
rollback;
