-- The layer over the nodes of Citus: what it puts in place of the core's seams, and how it brings
-- records and functions to the nodes. Nobody but the owner reaches into its schema.
create schema logloom_citus;

create table logloom_citus.core_bodies (
  signature text primary key,
  core text not null,
  replaced_by text not null
);

alter table logloom_citus.core_bodies enable row level security;
alter table logloom_citus.core_bodies force row level security;

comment on table logloom_citus.core_bodies is
  'Of each function of the core that is replaced the definition, and the one that is in its place.';

comment on schema logloom_citus is
  'Records sharded over nodes by Citus: made by citus/install.psql, gone with disable().';
