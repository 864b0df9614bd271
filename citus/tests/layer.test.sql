begin;
select plan(14);

create function pg_temp.core()
returns table (definition text)
language sql
as $$
  select pg_get_functiondef(p.oid)
  from pg_catalog.pg_proc p
  where p.pronamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
    and p.prokind = 'f'
$$;

create temp table before as select c.definition from pg_temp.core() c;
\ir ../install.psql

select set_eq(
  'select c.definition from pg_temp.core() c', 'select b.definition from before b',
  'installed, the layer changes nothing of the core'
);
select throws_ok(
  'select logloom_citus.enable(8)', '0A000', 'Citus is not in this database',
  'without Citus enable() refuses'
);
select is(logloom_citus.is_sharded(), false, 'records are on one server');
select is_empty(
  $$select r.rolname from pg_catalog.pg_roles r
  where r.rolname in ('anon', 'authenticated', 'service_role')
    and has_schema_privilege(r.oid, 'logloom_citus', 'usage')$$,
  'no role of the API may use its schema'
);

select logloom_citus.replace_functions();
update logloom_private.settings set archive_bucket = 'bucket';
select is(
  logloom_private.archive_is_idle(),
  'Records are sharded over nodes, which the archive does not read',
  'nothing is archived from nodes, and the reason is given'
);
select set_eq(
  $$select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.prokind = 'f'
      and pg_get_functiondef(p.oid) not in (select b.definition from before b)$$,
  $$select 'logloom_private.' || replace(s, 'timestamptz', 'timestamp with time zone')
    from unnest(logloom_citus.seams()) s
    union
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace
      and p.proname = any (logloom_citus.readings())$$,
  'it replaces only the seams and the readings of the core'
);
select set_eq(
  $$select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.prokind = 'f'
      and p.proname <> 'delete_logs'
      and pg_get_functiondef(p.oid) not in (select b.definition from before b)$$,
  $$select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace and p.provolatile = 's'
      and p.proname = any (logloom_private.operations())
      and p.proconfig @> '{default_transaction_isolation=repeatable read}'$$,
  'reading operations keep one snapshot'
);
select set_eq(
  $$select p.proname
    from pg_catalog.pg_proc p
    where p.pronamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      and p.prosrc ~ 'perform set_config\(''logloom.reads_again'', ''yes'', true\);'$$,
  $$select p.proname
    from pg_catalog.pg_proc p
    where p.pronamespace in ('logloom_private'::regnamespace, 'public'::regnamespace)
      and p.prosrc ~ '\nexception when query_canceled( or lock_not_available)? then\n'
      and p.proname <> 'read_query_validity'$$,
  'each reading with a timeout is repeated if its shard has moved'
);

select throws_ok(
  'select logloom_private.require_streams()', 'PT400',
  'Log streams do not work with records that are sharded over nodes', 'log streams are refused'
);

-- A migration may replace a seam.
create or replace function logloom_private.last_sealed()
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'epoch';
end;
$$;
select logloom_citus.replace_functions();
select is(logloom_private.last_sealed(), null, 'after a migration it is replaced again');
create temp table replaced as select c.definition from pg_temp.core() c;
select logloom_citus.replace_functions();
select set_eq(
  'select c.definition from pg_temp.core() c', 'select r.definition from replaced r',
  'called again it does nothing'
);

\ir ../install.psql
select logloom_citus.replace_functions();
select logloom_citus.disable();
select is(logloom_private.last_sealed(), 'epoch', 'disable() restores the migration''s function');
select results_eq(
  $$select (regexp_match(d.definition, 'logloom_private\.\w+'))[1]
    from (select c.definition from pg_temp.core() c except select b.definition from before b) d$$,
  $$values ('logloom_private.last_sealed')$$,
  'everything else is unchanged'
);
select hasnt_schema('logloom_citus', 'and the layer is removed');

select * from finish();
rollback;
