-- Deleted tenants: the receipt, and while it is not finished, what keeps the id from being used.
create table logloom_private.tenant_deletions (
  deletion_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  requested_by text not null,
  requested_at timestamptz not null default now(),
  erased_records bigint,
  finished_at timestamptz
);

create unique index tenant_deletions_tenant_id_idx
on logloom_private.tenant_deletions (tenant_id) where finished_at is null;

comment on table logloom_private.tenant_deletions is
  'A row for each delete_tenant. finished_at: when nothing of the tenant was left. erased_records: '
  'log records that were erased; null until they are.';
