create table logloom_private.log_removals (
  tenant_id text not null
);

create index log_removals_tenant_id_idx on logloom_private.log_removals (tenant_id);

comment on table logloom_private.log_removals is
  'Tenants of which records were removed within the longest alert window: what was added up over '
  'them no longer holds. Rows of their own, so that a removal and an alert round never wait for '
  'each other.';
