create table logloom.tenants (
  tenant_id text primary key,
  plan_id text not null references logloom.plans on delete restrict,
  created_at timestamptz not null default now(),
  constraint tenants_id_is_usable check (logloom_private.usable_id(tenant_id) is not null)
);

create index tenants_plan_id_idx on logloom.tenants (plan_id);

create policy tenants_select_own on logloom.tenants
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.tenants to authenticated, service_role;

comment on table logloom.tenants is
  'A tenant is created by its first write: create, update or ingest.';

create table logloom.tenant_settings (
  tenant_id text primary key references logloom.tenants on delete cascade,
  retention_days integer,
  compression boolean,
  email_enabled boolean,
  webhook_enabled boolean,
  updated_at timestamptz not null default now(),
  retention_rules public.logloom_retention_rule[],
  rules_days_max integer,
  constraint tenant_settings_retention_is_positive check (retention_days >= 1),
  constraint tenant_settings_retention_rules_are_few check (cardinality(retention_rules) <= 5)
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
  tenant_id, retention_days, compression, email_enabled, webhook_enabled, retention_rules,
  rules_days_max
) on logloom.tenant_settings to authenticated, service_role;

grant update (
  retention_days, compression, email_enabled, webhook_enabled, updated_at, retention_rules,
  rules_days_max
) on logloom.tenant_settings to authenticated, service_role;

comment on table logloom.tenant_settings is
  'What a tenant has set. Without a row, or if a column is null, the default applies.';

comment on column logloom.tenant_settings.retention_days is
  'May be above the limit of the plan after a change of plan. The limit then applies.';

comment on column logloom.tenant_settings.rules_days_max is
  'The longest retention of the tenant''s rules, including replaced and removed rules. Null: there '
  'are no rules, and no records from before their removal are left.';

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
  'A receipt for each delete_tenant. Nobody can use the id until finished_at. Then nothing of the '
  'tenant is left. erased_records: null until its log records are deleted.';

create table logloom_private.kept_longer (
  kept_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  first_day date not null,
  last_day date not null,
  kept_until timestamptz not null,
  constraint kept_longer_days_are_in_order check (first_day <= last_day)
);

create index kept_longer_tenant_id_idx on logloom_private.kept_longer (tenant_id, kept_until);

comment on table logloom_private.kept_longer is
  'Restored days. A tenant keeps them beyond its retention until kept_until.';
