-- The layer for Citus: it replaces the core's seams, and puts records and functions on the nodes.
-- Only the owner can use its schema.
do $$
begin
  -- The replaced functions belong to the owner, whichever operator installs the layer.
  execute format('set local role %s', (
    select n.nspowner::regrole from pg_catalog.pg_namespace n where n.nspname = 'logloom_private'
  ));
  -- Citus propagates as a superuser, but only objects from before this transaction. So a new schema
  -- is propagated later, by enable().
  if to_regnamespace('logloom_citus') is null then
    perform set_config('citus.enable_ddl_propagation', 'off', true);
  end if;
end;
$$;

create schema if not exists logloom_citus;

create table if not exists logloom_citus.core_functions (
  signature text primary key,
  core text not null,
  replaced_by text not null
);

alter table logloom_citus.core_functions enable row level security;
alter table logloom_citus.core_functions force row level security;

comment on table logloom_citus.core_functions is
  'The definition of each replaced function of the core, and its replacement.';
comment on schema logloom_citus is
  'Records sharded over nodes by Citus. Created by citus/install.psql, removed by disable().';
