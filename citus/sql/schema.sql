-- The layer over the nodes of Citus: what it puts in place of the core's seams, and how it brings
-- records and functions to the nodes. Nobody but the owner reaches into its schema.
do $$
begin
  -- Whoever of the operators installs it, what it replaces is the owner's.
  execute format('set local role %s', (
    select n.nspowner::regrole from pg_catalog.pg_namespace n where n.nspname = 'logloom_private'
  ));
  -- Superusers bring it to the nodes when it is enabled, which they do for what is not new in their
  -- transaction.
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
  'Of each function of the core that is replaced the definition, and the one that is in its place.';
comment on schema logloom_citus is
  'Records sharded over nodes by Citus: made by citus/install.psql, gone with disable().';
