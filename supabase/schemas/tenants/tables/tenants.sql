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
  'A tenant appears with its first write: create, update or ingest.';
