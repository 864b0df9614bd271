create table logloom.archive_restores (
  restore_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp(),
  first_day date not null,
  last_day date not null,
  ts_from timestamptz not null,
  ts_to timestamptz not null,
  query_dsl text not null,
  kept_until timestamptz not null,
  status text not null default 'queued',
  parts integer not null,
  parts_done integer not null default 0,
  records bigint not null default 0,
  bytes bigint not null default 0,
  position_number bigint not null default 0,
  failures integer not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  error text,
  constraint archive_restores_status_is_known check (
    status in ('queued', 'running', 'done', 'failed')
  )
);

create index archive_restores_tenant_id_requested_at_idx
on logloom.archive_restores (tenant_id, requested_at desc, restore_id desc);

create index archive_restores_open_idx on logloom.archive_restores (next_attempt_at)
where status in ('queued', 'running');

create policy archive_restores_select_tenant on logloom.archive_restores
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.archive_restores to authenticated, service_role;

comment on table logloom.archive_restores is
  'Days that were brought back from the archive. Kept for settings.audit_lifetime.';
