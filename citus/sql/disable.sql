-- Puts the core's bodies back and takes this layer away: for a copy of the database that was
-- restored on one server. 55000 where records are sharded.
create function logloom_citus.disable()
returns void
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
-- definer because what is replaced is its owner's, whoever of the operators calls this
declare
  v_definition text;
begin
  if logloom_citus.is_sharded() then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'Records are sharded',
      hint = 'Dump the coordinator, restore the dump on one server, and call this there.';
  end if;
  perform logloom_citus.put_bodies_back();
  -- Made again without the settings: to reset one of an extension that is not there is refused.
  for v_definition in
    select regexp_replace(
      pg_get_functiondef(p.oid),
      '\n SET ("citus\.\w+"|default_transaction_isolation) TO [^\n]*', '', 'g'
    )
    from pg_catalog.pg_proc p
    where p.oid = 'logloom_private.set_pre_request(text, boolean)'::regprocedure
      or p.pronamespace = 'public'::regnamespace
        and p.proname = any (logloom_private.operations()) and p.provolatile = 's'
  loop
    execute v_definition;
  end loop;
  drop schema logloom_citus cascade;
end;
$$;

-- Lets the statements of this session that remove the service take it from the nodes too.
create function logloom_citus.leave_nodes()
returns void
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('citus.enable_alter_role_set_propagation', 'off', false);
  -- Types and tables go from the nodes over one connection.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', false);
  execute format(
    'alter role %s reset citus.allow_nested_distributed_execution',
    (
      select n.nspowner::regrole
      from pg_catalog.pg_namespace n
      where n.nspname = 'logloom_private'
    )
  );
end;
$$;
