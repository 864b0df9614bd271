-- Restores the core's functions and removes this layer. For a copy of the database that was
-- restored on one server. 55000 if records are sharded.
create or replace function logloom_citus.disable()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set client_min_messages = warning
as $$
-- definer because the replaced functions belong to the owner, whichever operator calls this
declare
  v_definition text;
begin
  if logloom_citus.is_sharded() then
    raise exception using
      errcode = 'object_not_in_prerequisite_state',
      message = 'Records are sharded',
      hint = 'Dump the coordinator, restore the dump on one server, and call this there.';
  end if;
  for v_definition in select f.core from logloom_citus.core_functions f loop
    execute v_definition;
  end loop;
  drop schema logloom_citus cascade;
end;
$$;

-- Lets this session drop Logloom's objects on the nodes, too.
create or replace function logloom_citus.leave_nodes()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the setting belongs to the owner, whichever operator calls this
begin
  execute format(
    'alter role %I reset citus.allow_nested_distributed_execution', current_user
  );
  -- Nodes have no PostgREST and would refuse its setting.
  perform set_config('citus.enable_alter_role_set_propagation', 'off', false);
  -- Types and tables must be dropped over one connection to each node.
  perform set_config('citus.multi_shard_modify_mode', 'sequential', false);
end;
$$;
