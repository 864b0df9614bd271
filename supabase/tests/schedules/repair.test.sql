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
-- The project has a function with the name of an operation.
create function public.get_log(p_order integer) returns integer language sql as 'select p_order';
revoke all on function public.get_log(integer) from public, anon, authenticated, service_role;
create temp table before as
select g.* from pg_temp.grants() g;

select ok(not logloom_private.is_restored(), 'a database that was installed is not restored');
-- pg_partman leaves another search_path.
select logloom_private.repair() as said \gset
set local search_path = public, extensions;
select is(:'said'::text, 'repaired', 'a repair of what is whole does no harm');
select results_eq(
  'select * from pg_temp.grants() order by 1', 'select * from before order by 1',
  'and leaves who may call what as the definitions say'
);

update logloom_private.installation set own_oid = 1 where singleton;
select is(
  logloom_private.read_health() #> '{checks,installation}',
  '{
    "state": "restored, not repaired", "status": "unhealthy",
    "reason":
      "Restored from a dump and not repaired: see Backup and restore in docs/guides/operations.md"
  }'::jsonb,
  'health tells of a restore'
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
  'what a restore gave away is taken back'
);
select ok(
  (select last_value >= 4711 from logloom_private.write_seq)
  and exists (select from cron.job where jobname = 'logloom_write')
  and exists (select from partman.part_config where parent_table = 'logloom.logs'),
  'the sequence goes on after the data, the job and pg_partman''s configuration are back'
);
select is(
  logloom_private.read_health() #>> '{checks,installation,state}', 'installed', 'and health says so'
);

-- A dump has no settings of roles: of the project's pre-request function it has what is noted.
create schema shop;
create function shop.check_request() returns void language plpgsql as $$
begin
  raise sqlstate 'PT418';
end;
$$;
alter role authenticator reset pgrst.db_pre_request;
select is(
  logloom_private.read_health() #>> '{checks,pre_request,status}', 'degraded',
  'nothing calls our check then, and health says so'
);
update logloom_private.installation
set own_oid = 1, host_pre_request = 'shop.check_request'
where singleton;
select logloom_private.repair();
set local search_path = public, extensions;
select throws_ok(
  'select logloom_private.check_request()', 'PT418', null,
  'the project''s pre-request function is called after a restore, too'
);
-- Nor has it those of another schema that was not dumped.
drop schema shop cascade;
alter role authenticator reset pgrst.db_pre_request;
update logloom_private.installation set own_oid = 1 where singleton;
select logloom_private.repair();
set local search_path = public, extensions;
select lives_ok(
  'select logloom_private.check_request()', 'unless it was not restored'
);

select * from finish();
rollback;
