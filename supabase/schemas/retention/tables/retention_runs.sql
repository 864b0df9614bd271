create table logloom.retention_runs (
  run_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  kind text not null,
  status text not null,
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp(),
  query_dsl text,
  ts_from timestamptz,
  ts_to timestamptz not null,
  dry_run boolean not null default false,
  records bigint not null default 0,
  partitions integer not null default 0,
  finished_at timestamptz,
  error text,
  position_ts timestamptz,
  position_id uuid,
  position_block bigint,
  archive_files integer not null default 0,
  archive_records bigint not null default 0,
  not_reached jsonb,
  constraint retention_runs_kind_is_known check (kind in ('retention', 'erasure', 'storage')),
  constraint retention_runs_status_is_known check (
    status in ('queued', 'running', 'done', 'interrupted', 'failed')
  ),
  constraint retention_runs_erasure_has_query check (
    kind <> 'erasure' or query_dsl is not null and ts_from is not null
  )
);

create index retention_runs_tenant_id_requested_at_idx
on logloom.retention_runs (tenant_id, requested_at desc, run_id desc);

create unique index retention_runs_retention_idx
on logloom.retention_runs (tenant_id, ts_to, kind)
where kind <> 'erasure' and status = 'running';

create index retention_runs_open_idx
on logloom.retention_runs (tenant_id, requested_at)
where status in ('queued', 'running');

create policy retention_runs_select_tenant on logloom.retention_runs
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.retention_runs to authenticated, service_role;

comment on table logloom.retention_runs is
  'Deletions of records: by retention, on request, and because storage is full. An erasure on '
  'request has one row. Retention and full storage add a row for each run and tenant that lost '
  'records. Kept for settings.audit_lifetime.';

comment on column logloom.retention_runs.position_ts is
  'The last record (position_ts, position_id) that an erasure has checked.';

comment on column logloom.retention_runs.position_block is
  'The last block that an erasure has checked. An erasure checks rows before blocks.';
