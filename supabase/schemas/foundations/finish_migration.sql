-- The last statement of every migration. Row-level security is forced on every table. Nobody may
-- call what a migration made, but for what it granted to a role, the operations, the registers of
-- errors, and these few, which the pre-request check of every request of the project calls, as
-- whatever role it comes.
create function logloom_private.finish_migration()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass;
  v_function regprocedure;
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
  revoke execute on all routines in schema logloom_private from public;
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.proname like '%\_errors'
  loop
    execute format('grant execute on function %s to authenticated, service_role', v_function);
  end loop;
  for v_function in
    select to_regprocedure('logloom_private.' || f.signature)
    from (
      values
        ('operations()'), ('errors(text)'), ('error_named(text, text[])'), ('callers_errors()'),
        ('refuse(text, text[])'), ('requested_operation(text, text)'), ('check_operation(text)'),
        ('call_host_pre_request()'), ('check_request()')
    ) f (signature)
    where to_regprocedure('logloom_private.' || f.signature) is not null
  loop
    execute format('grant execute on function %s to public', v_function);
  end loop;
  perform logloom_private.grant_operations();
  perform logloom_private.after_migration();
end;
$$;
