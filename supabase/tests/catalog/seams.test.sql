-- The core does not know about nodes. The layer in citus/ only replaces the bodies of the functions
-- below.
begin;
select plan(2);

create temp table seams (signature text, what_for text);
insert into seams values
  ('after_migration()', 'further work after each migration'),
  ('archive_reads_records()', 'whether the archive reads the records of this database'),
  ('expired_days(text[],date,integer)', 'which tenants have data of an expired day'),
  ('forget_tenants_day(text[],date)', 'deletes the data of a day of tenants'),
  ('hold_writers()', 'stops writers before a migration changes records'),
  (
    'insert_records(smallint,bigint,bigint,integer,integer,bigint)',
    'writes the records of a step and its progress'
  ),
  ('last_sealed()', 'when the last block was created'),
  ('read_page(text)', 'reads a page of records'),
  ('reads_sealed(text,timestamptz,timestamptz)', 'whether a tenant has blocks in a range'),
  ('relation_bytes(regclass)', 'the bytes of a table with its indexes'),
  ('require_streams()', 'refuses log streams'),
  ('scanned_tenant_sql(text)', 'tells a reader of blocks its scan slot');

select is_empty(
  $$select s.signature from seams s
    where to_regprocedure('logloom_private.' || s.signature) is null$$,
  'each is a function'
);
select is_empty(
  $$select p.oid::regprocedure
    from pg_catalog.pg_proc p
    where p.pronamespace in (
        'logloom'::regnamespace, 'logloom_private'::regnamespace, 'public'::regnamespace
      )
      and concat(p.prosrc, pg_get_function_sqlbody(p.oid)) ~* 'citus|pg_dist_|is_spread|is_sharded'
      and not exists (
        select from pg_catalog.pg_depend d
        where d.classid = 'pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
      )$$,
  'no function of the core asks for nodes'
);

select * from finish();
rollback;
