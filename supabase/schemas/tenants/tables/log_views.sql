create table logloom.log_views (
  view_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text,
  query_dsl text,
  hidden_fields text[] not null default '{}',
  operations text[],
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  shows_since timestamptz not null default now(),
  customer text,
  parent_view_id uuid,
  tested_at timestamptz,
  -- Foreign keys use this constraint to ensure that a row has the same tenant as its view.
  constraint log_views_tenant_id_view_id_is_unique unique (tenant_id, view_id),
  constraint log_views_name_is_unique unique (tenant_id, name),
  constraint log_views_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 100
  ),
  constraint log_views_operations_are_not_empty check (cardinality(operations) > 0),
  constraint log_views_has_name_or_customer check ((name is null) = (customer is not null)),
  constraint log_views_parent_is_of_customer check (
    parent_view_id is null or customer is not null
  ),
  constraint log_views_parent_is_of_tenant foreign key (tenant_id, parent_view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
);

create index log_views_tenant_id_created_at_idx
on logloom.log_views (tenant_id, created_at desc, view_id desc);

-- The digest stands for the query, which may be too long for an index.
create unique index log_views_of_customers_idx
on logloom.log_views (tenant_id, customer, parent_view_id, md5(query_dsl))
nulls not distinct where customer is not null;
create index log_views_tenant_id_parent_view_id_idx
on logloom.log_views (tenant_id, parent_view_id);

create policy log_views_select_tenant on logloom.log_views
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()) and customer is null);

grant select on logloom.log_views to authenticated, service_role;

comment on table logloom.log_views is
  'A view limits what the viewers, API keys and portal sessions bound to it can read.';

comment on column logloom.log_views.customer is
  'Null for the tenant''s views, which have a name. Otherwise the row binds log streams and alert '
  'rules that a customer made in a portal session: they read in parent_view_id (null: the whole '
  'tenant), narrowed by query_dsl, the session''s query.';

comment on column logloom.log_views.tested_at is
  'When a log stream in this view of a customer was last tested.';

comment on column logloom.log_views.query_dsl is
  'The query that selects the records of the view, without stages. Null: all records.';

comment on column logloom.log_views.hidden_fields is
  'Fields that the view does not show: names of fields, attrs, or attrs.PATH.';

comment on column logloom.log_views.operations is
  'The reading operations that the view allows. Null: all except those that list alerts.';

comment on column logloom.log_views.shows_since is
  'When the view was created, or its query or hidden fields last changed. The view shows no '
  'older alerts.';
