create table logloom.tenant_settings (
  tenant_id text primary key references logloom.tenants on delete cascade,
  retention_days integer,
  compression boolean,
  email_enabled boolean,
  webhook_enabled boolean,
  updated_at timestamptz not null default now(),
  constraint tenant_settings_retention_is_positive check (retention_days >= 1)
);

create policy tenant_settings_select_tenant on logloom.tenant_settings
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy tenant_settings_insert_admin on logloom.tenant_settings
for insert to authenticated
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

create policy tenant_settings_update_admin on logloom.tenant_settings
for update to authenticated
using (tenant_id = (select logloom_private.current_admin_tenant_id()))
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

grant select on logloom.tenant_settings to authenticated, service_role;

grant insert (
  tenant_id, retention_days, compression, email_enabled, webhook_enabled
) on logloom.tenant_settings to authenticated, service_role;

grant update (retention_days, compression, email_enabled, webhook_enabled, updated_at)
on logloom.tenant_settings to authenticated, service_role;

comment on table logloom.tenant_settings is
  'What a tenant set. Where there is no row, or null, the default holds.';

comment on column logloom.tenant_settings.retention_days is
  'Read cut to the plan''s limit: a change of plan may have lowered it.';
