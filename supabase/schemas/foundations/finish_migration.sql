-- Lets each operation be called by whom it is for, and by nobody else. A dump does not know of the
-- privileges that a project gives to new functions in public.
create function logloom_private.grant_operations()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_operation record;
begin
  for v_operation in
    select
      p.oid::regprocedure as signature,
      case
        when p.proname = any (logloom_private.service_operations()) then 'service_role'
        else 'authenticated, service_role'
      end as roles
    from pg_catalog.pg_proc p
    where p.pronamespace = 'public'::regnamespace
      and p.proname = any (logloom_private.operations())
  loop
    execute format(
      'revoke all on function %s from public, anon, authenticated, service_role',
      v_operation.signature
    );
    execute format(
      'grant execute on function %s to %s', v_operation.signature, v_operation.roles
    );
  end loop;
end;
$$;

-- The last statement of every migration: nobody may call what a migration made, but for what it
-- granted to a role, the operations, and these few, which the pre-request check of every request of
-- the project calls, as whatever role it comes.
create function logloom_private.finish_migration()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_function regprocedure;
begin
  revoke execute on all routines in schema logloom_private from public;
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
