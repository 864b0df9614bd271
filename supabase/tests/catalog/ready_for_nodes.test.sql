-- What Citus asks of tables that are spread over nodes by tenant_id, held without Citus:
-- records and
-- what is known of them. Each rule was met as an error of Citus.
begin;
select plan(9);

create temp table spread as
select c.oid, c.oid::regclass::text as name
from pg_catalog.pg_class c
where c.oid in (
  'logloom.logs'::regclass, 'logloom_private.log_counts'::regclass,
  'logloom_private.packed_counts'::regclass, 'logloom_private.counted_days'::regclass,
  'logloom_private.log_days'::regclass, 'logloom_private.sealed_chunks'::regclass,
  'logloom_private.sealed_columns'::regclass
);

select is_empty(
  $$select s.name from spread s
  where not exists (
    select from pg_catalog.pg_attribute a
    where a.attrelid = s.oid and a.attname = 'tenant_id' and a.attnotnull
  )$$,
  'each has a tenant_id that is never null'
);
select is_empty(
  $$select s.name from spread s
  where not exists (
    select from pg_catalog.pg_index i where i.indrelid = s.oid and i.indisprimary
  )$$,
  'each has a primary key, without which a shard cannot be moved'
);
select is_empty(
  $$select i.indexrelid::regclass from spread s
  join pg_catalog.pg_index i on i.indrelid = s.oid and i.indisunique
  where not exists (
    select from pg_catalog.pg_attribute a
    where a.attrelid = s.oid and a.attname = 'tenant_id' and a.attnum = any(i.indkey)
  )$$,
  'each unique index holds tenant_id'
);
select is_empty(
  $$select t.tgname from spread s
  join pg_catalog.pg_trigger t on t.tgrelid = s.oid
  where not t.tgisinternal$$,
  'none has a trigger'
);
select is_empty(
  $$select k.conname from spread s
  join pg_catalog.pg_constraint k on k.conrelid = s.oid and k.contype = 'f'
  where k.confrelid not in (select o.oid from spread o)
    or not exists (
      select from pg_catalog.pg_attribute a
      where a.attrelid = s.oid and a.attname = 'tenant_id' and a.attnum = any(k.conkey)
    )$$,
  'a foreign key leads to another of them only, by tenant_id too'
);
select is_empty(
  $$select k.conname from pg_catalog.pg_constraint k
  where k.contype = 'f' and k.confrelid in (select s.oid from spread s)
    and k.conrelid not in (select s.oid from spread s)$$,
  'nothing else refers to them'
);
select is_empty(
  $$select p.policyname from pg_catalog.pg_policies p
  join spread s on s.name = p.schemaname || '.' || p.tablename
  where coalesce(p.qual, '') || coalesce(p.with_check, '') ~* 'select'$$,
  'no policy has a sub-select'
);
select is_empty(
  $$select p.oid::regprocedure from pg_catalog.pg_proc p
  where p.pronamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
    and p.prosrc ~* '\yctid\y'
    and p.prosrc
      ~ 'logloom\.logs|log_counts|packed_counts|counted_days|log_days|sealed_(chunks|columns)'$$,
  'no function pages them by ctid'
);
select is_empty(
  $$select p.oid::regprocedure from pg_catalog.pg_proc p
  where p.pronamespace = 'logloom_private'::regnamespace
    and p.prosrc ~* 'with\s+recursive'
    and p.prosrc
      ~ 'logloom\.logs|log_counts|packed_counts|counted_days|log_days|sealed_(chunks|columns)'$$,
  'no function walks them by recursion'
);

select * from finish();
rollback;
