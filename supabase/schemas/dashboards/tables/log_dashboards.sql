create table logloom.log_dashboards (
  dashboard_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  created_by text not null,
  name text not null,
  is_shared boolean not null default false,
  panels jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  in_portal boolean not null default false,
  constraint log_dashboards_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint log_dashboards_panels_are_few check (
    case when jsonb_typeof(panels) = 'array' then jsonb_array_length(panels) <= 20 else false end
  )
);

create index log_dashboards_tenant_id_created_at_idx
on logloom.log_dashboards (tenant_id, created_at desc, dashboard_id desc);

create policy log_dashboards_select_creator_or_shared on logloom.log_dashboards
for select to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and (is_shared or created_by = (select logloom_private.current_user_id()))
);

create policy log_dashboards_insert_creator on logloom.log_dashboards
for insert to authenticated
with check (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

create policy log_dashboards_update_creator on logloom.log_dashboards
for update to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
)
with check (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

create policy log_dashboards_delete_creator on logloom.log_dashboards
for delete to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

grant select, delete on logloom.log_dashboards to authenticated, service_role;

grant insert (tenant_id, created_by, name, is_shared, panels, in_portal)
on logloom.log_dashboards to authenticated, service_role;

grant update (name, is_shared, panels, updated_at, in_portal)
on logloom.log_dashboards to authenticated, service_role;

comment on table logloom.log_dashboards is
  'Dashboards. A dashboard is private to its creator, or shared with the tenant to look at. Each '
  'reader sees the records of their own scope in it.';

comment on column logloom.log_dashboards.created_by is 'The claim sub of its creator.';

comment on column logloom.log_dashboards.in_portal is
  'True: portal sessions with the part dashboards see it, if it is also shared.';

comment on column logloom.log_dashboards.panels is
  'The panels in their order in the grid, as objects with the members of public.logloom_log_panel.';
