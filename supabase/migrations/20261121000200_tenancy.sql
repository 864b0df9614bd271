-- Plans and tenants.

create table app.plans (
  plan_id text primary key,
  plan_name text not null,
  is_default boolean not null default false,
  monthly_events_limit bigint not null,
  monthly_bytes_limit bigint not null,
  events_per_second integer,
  events_burst integer,
  requests_per_second integer,
  requests_burst integer,
  retention_days_default integer not null,
  retention_days_max integer not null,
  saved_searches boolean not null,
  max_saved_searches integer not null,
  alerts boolean not null,
  max_alerts integer not null,
  constraint plans_limits_are_not_negative check (
    least(monthly_events_limit, monthly_bytes_limit, max_saved_searches, max_alerts) >= 0
  ),
  constraint plans_rates_are_positive check (
    least(events_per_second, events_burst, requests_per_second, requests_burst) >= 1
  ),
  constraint plans_rates_have_bursts check (
    (events_per_second is null) = (events_burst is null)
    and (requests_per_second is null) = (requests_burst is null)
  ),
  constraint plans_retention_is_positive check (
    retention_days_default between 1 and retention_days_max
  )
);

create table app.tenants (
  tenant_id text primary key,
  plan_id text not null references app.plans on delete restrict,
  created_at timestamptz not null default now(),
  constraint tenants_id_is_usable check (private.usable_tenant_id(tenant_id) is not null)
);

create unique index plans_is_default_idx on app.plans (is_default) where is_default;
create index tenants_plan_id_idx on app.tenants (plan_id);

alter table app.plans enable row level security;
alter table app.plans force row level security;
alter table app.tenants enable row level security;
alter table app.tenants force row level security;

create policy plans_select_anyone on app.plans
for select to authenticated
using (true);

create policy tenants_select_own on app.tenants
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

grant select on app.plans, app.tenants to authenticated, service_role;

insert into app.plans (
  plan_id, plan_name, is_default, monthly_events_limit, monthly_bytes_limit,
  retention_days_default, retention_days_max,
  saved_searches, max_saved_searches, alerts, max_alerts
)
values
  ('free', 'Free', true, 1000000, 1000000000, 7, 7, true, 10, true, 3),
  ('pro', 'Pro', false, 100000000, 100000000000, 30, 90, true, 50, true, 50),
  (
    'enterprise', 'Enterprise', false, 10000000000, 10000000000000, 90, 400,
    true, 1000, true, 1000
  );

create function private.provision_tenant(p_tenant_id text)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  if exists (select from app.tenants t where t.tenant_id = p_tenant_id) then
    return;
  end if;
  insert into app.tenants (tenant_id, plan_id)
  select p_tenant_id, p.plan_id from app.plans p where p.is_default
  on conflict do nothing;
end;
$$;

create function private.provision_current_tenant(p_tenant_id text default null)
returns text
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role may insert tenants or choose a plan
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
begin
  perform private.provision_tenant(v_tenant_id);
  return v_tenant_id;
end;
$$;

grant execute on function private.provision_current_tenant(text) to authenticated, service_role;

comment on table app.plans is
  'What a tenant can buy. A change of a row holds from the next request on.';
comment on column app.plans.is_default is
  'The plan of a tenant that is provisioned by its first write.';
comment on column app.plans.monthly_bytes_limit is
  'Bytes of accepted request bodies in a UTC month.';
comment on column app.plans.events_per_second is
  'Events that a tenant may send a second over time, events_burst of them at once. Null: any.';
comment on column app.plans.requests_per_second is
  'Requests a second over time, requests_burst of them at once. Null: any.';
comment on column app.plans.retention_days_max is 'Greatest retention_days that a tenant may set.';
comment on table app.tenants is 'A tenant appears with its first write: create, update or ingest.';
comment on function private.provision_tenant(text) is
  'Makes the tenant on the default plan unless it exists.';
comment on function private.provision_current_tenant(text) is
  'What every first write calls: resolves the tenant of the request, provisions it, returns it.';
