-- Lets each operation be called by whom it is for, and by nobody else. A dump does not know of the
-- privileges that a project gives to new functions in public. A function of the project that has
-- the name of an operation stays as it is.
create function logloom_private.grant_operations()
returns void
language plpgsql
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
      and strpos(p.prosrc, 'logloom_private.') > 0
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
