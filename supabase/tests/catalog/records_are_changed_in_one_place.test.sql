-- Only the statements that keep the counts up to date change records.
begin;
select plan(3);

create temp table changing as
select p.oid::regprocedure::text as signature, s.source
from pg_catalog.pg_proc p
join pg_catalog.pg_namespace n on n.oid = p.pronamespace
cross join concat(p.prosrc, pg_get_function_sqlbody(p.oid)) s (source)
where n.nspname in ('logloom', 'logloom_private', 'public')
  and s.source ~* '(insert\s+into|update|truncate|merge\s+into)\s+logloom\.logs\y'
  or s.source ~* '''delete (%s|from logloom\.logs)';

select isnt_empty('select from changing', 'there are functions that change records');
select is_empty(
  $$select signature from changing
  where source !~ 'logloom_private\.(added|removed)_records_sql\('
    and source !~ 'logloom_private\.delete_dead_letters'$$,
  'each of them uses added_records_sql or removed_records_sql'
);
select is_empty(
  $$select t.tgname from pg_catalog.pg_trigger t
  where t.tgrelid = 'logloom.logs'::regclass and not t.tgisinternal$$,
  'the records have no trigger'
);

select * from finish();
rollback;
