create table logloom_private.deletion_turns (
  tenant_id text primary key,
  served_at timestamptz not null
);

comment on table logloom_private.deletion_turns is
  'When a tenant with open erasures was last served, so that tenants take turns.';
