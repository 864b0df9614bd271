begin;
select plan(10);

create function pg_temp.grants()
returns table (operation text, acl text)
language sql
as $$
  select p.oid::regprocedure::text, array(select unnest(p.proacl)::text order by 1)::text
  from pg_proc p
  where p.pronamespace = 'public'::regnamespace and p.proname = any (logloom_private.operations())
$$;
-- The project has a function with the same name as an operation.
create function public.get_log(p_order integer) returns integer language sql as 'select p_order';
revoke all on function public.get_log(integer) from public, anon, authenticated, service_role;
create temp table before as
select g.* from pg_temp.grants() g;

select ok(not logloom_private.is_restored(), 'an installed database does not count as restored');
-- pg_partman changes the search_path.
select logloom_private.repair() as said \gset
set local search_path = public, extensions;
select is(:'said'::text, 'repaired', 'repairing an intact database is harmless');
select results_eq(
  'select * from pg_temp.grants() order by 1', 'select * from before order by 1',
  'and keeps the grants'
);

update logloom_private.installation set own_oid = 1 where singleton;
select is(
  logloom_private.read_health() #> '{checks,installation}',
  '{
    "state": "restored, not repaired", "status": "unhealthy",
    "reason":
      "Restored from a dump and not repaired: see Backup and restore in docs/guides/operations.md"
  }'::jsonb,
  'health reports a restore'
);
grant execute on function public.health_report() to anon, public;
grant execute on function public.get_log(uuid, timestamptz) to anon;
select cron.unschedule('logloom_write');
select setval('logloom_private.write_seq', 1, false);
insert into logloom_private.log_writes (day, write_seq)
values (logloom_private.utc_day(now()), 4711);
delete from partman.part_config where parent_table = 'logloom.logs';
select logloom_private.repair();
set local search_path = public, extensions;
select results_eq(
  'select * from pg_temp.grants() order by 1', 'select * from before order by 1',
  'wrong grants of a restore are revoked'
);
select ok(
  (select last_value >= 4711 from logloom_private.write_seq)
  and exists (select from cron.job where jobname = 'logloom_write')
  and exists (select from partman.part_config where parent_table = 'logloom.logs'),
  'the sequence continues after the data; job and pg_partman''s configuration are back'
);
select is(
  logloom_private.read_health() #>> '{checks,installation,state}', 'installed', 'and health says so'
);

-- A dump has no settings of roles. installation.host_pre_request remembers the project's
-- pre-request function.
create schema shop;
create function shop.check_request() returns void language plpgsql as $$
begin
  raise sqlstate 'PT418';
end;
$$;
alter role authenticator reset pgrst.db_pre_request;
select is(
  logloom_private.read_health() #>> '{checks,pre_request,status}', 'degraded',
  'without a pre-request function health is degraded'
);
update logloom_private.installation
set own_oid = 1, host_pre_request = 'shop.check_request'
where singleton;
select logloom_private.repair();
set local search_path = public, extensions;
select throws_ok(
  'select logloom_private.check_request()', 'PT418', null,
  'repair calls the project''s pre-request function again'
);
-- The project's schema was not dumped.
drop schema shop cascade;
alter role authenticator reset pgrst.db_pre_request;
update logloom_private.installation set own_oid = 1 where singleton;
select logloom_private.repair();
set local search_path = public, extensions;
select lives_ok('select logloom_private.check_request()', 'unless that function is missing');

select * from finish();
rollback;
