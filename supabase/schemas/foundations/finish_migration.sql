-- The last statement of every migration. Row-level security is forced on every table. Nobody may
-- call what a migration made, but for granted_functions(), the operations, the registers of errors
-- and what it granted to a role itself. Definer functions read a text in quotes as it is written,
-- whatever the session of their caller says.
create function logloom_private.finish_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass;
  v_function regprocedure;
  v_grant record;
begin
  for v_table in
    select c.oid
    from pg_catalog.pg_class c
    where c.relnamespace in ('logloom'::regnamespace, 'logloom_private'::regnamespace)
      and c.relkind in ('r', 'p')
      and not (c.relrowsecurity and c.relforcerowsecurity)
  loop
    execute format(
      'alter table %s enable row level security, force row level security', v_table
    );
  end loop;
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.prosecdef
      and (p.proconfig @> '{standard_conforming_strings=on}') is not true
  loop
    execute format('alter function %s set standard_conforming_strings = on', v_function);
  end loop;
  revoke execute on all routines in schema logloom_private from public;
  for v_grant in
    select
      p.oid::regprocedure as function, coalesce(g.roles, 'authenticated, service_role') as roles
    from pg_catalog.pg_proc p
    left join logloom_private.granted_functions() g on p.proname = any (g.names)
    where p.pronamespace = 'logloom_private'::regnamespace
      and (g.roles is not null or p.proname like '%\_errors')
  loop
    execute format('grant execute on function %s to %s', v_grant.function, v_grant.roles);
  end loop;
  update logloom_private.installation set migrated_at = clock_timestamp() where singleton;
  perform logloom_private.grant_operations();
  perform logloom_private.after_migration();
end;
$$;
