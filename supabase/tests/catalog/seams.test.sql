-- The core knows no nodes. A layer over it (citus/) replaces the bodies of these functions alone.
begin;
select plan(2);

create temp table seams (signature text, what_for text);
insert into seams values
  ('after_migration()', 'whatever else each migration is followed by'),
  ('archive_reads_records()', 'whether the archive reads the records of this database'),
  ('expired_days(text[],date,integer)', 'of which tenants something is left of an expired day'),
  ('forget_tenants_day(text[],date)', 'deletes what there is of a day of tenants'),
  ('hold_writers()', 'before a migration changes records: nothing writes'),
  (
    'insert_records(smallint,bigint,bigint,integer,integer,bigint)',
    'writes a step''s records with what is known of them'
  ),
  ('last_sealed()', 'when the last block was made'),
  ('read_page(text)', 'reads a page of records'),
  ('reads_sealed(text,timestamptz,timestamptz)', 'whether a tenant has blocks of a range'),
  ('relation_bytes(regclass)', 'the bytes of a table with its indexes'),
  ('require_streams()', 'refuses log streams'),
  ('scanned_tenant_sql(text)', 'tells who reads blocks which scan slot it has');

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
  'no function asks whether there are nodes'
);

select * from finish();
rollback;
