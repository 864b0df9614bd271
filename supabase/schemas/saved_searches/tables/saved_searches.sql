-- True if there are at most 20 tags of 1 to 50 characters each.
create function logloom_private.tags_are_valid(p_tags text[])
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return cardinality(p_tags) = 0
    or array_ndims(p_tags) = 1
    and cardinality(p_tags) <= 20
    and not exists (
      select from unnest(p_tags) t (tag) where t.tag is null or length(t.tag) not between 1 and 50
    );
end;
$$;

create table logloom.saved_searches (
  id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  created_by text not null,
  name text not null,
  description text,
  query_dsl text not null,
  category text,
  is_shared boolean not null default false,
  tags text[] not null default '{}',
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_run_at timestamptz,
  run_count bigint not null default 0,
  view_id uuid,
  display jsonb not null default '{}',
  constraint saved_searches_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint saved_searches_description_is_valid check (length(description) between 1 and 2000),
  constraint saved_searches_category_is_valid check (
    category = logloom_private.trim_space(category) and length(category) between 1 and 100
  ),
  constraint saved_searches_tags_are_valid check (logloom_private.tags_are_valid(tags)),
  constraint saved_searches_display_is_valid check (
    jsonb_typeof(display) = 'object' and octet_length(display::text) <= 4000
  ),
  constraint saved_searches_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
);

create index saved_searches_tenant_id_created_at_idx
on logloom.saved_searches (tenant_id, created_at desc, id desc);

create index saved_searches_tenant_id_view_id_idx on logloom.saved_searches (tenant_id, view_id);

create policy saved_searches_select_creator_or_shared on logloom.saved_searches
for select to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and (is_shared or created_by = (select logloom_private.current_user_id()))
);

create policy saved_searches_insert_creator on logloom.saved_searches
for insert to authenticated
with check (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

create policy saved_searches_update_creator on logloom.saved_searches
for update to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
)
with check (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

create policy saved_searches_delete_creator on logloom.saved_searches
for delete to authenticated
using (
  tenant_id = (select logloom_private.current_tenant_id())
  and created_by = (select logloom_private.current_user_id())
);

grant select, delete on logloom.saved_searches to authenticated, service_role;

grant insert (
  tenant_id, created_by, name, description, query_dsl, category, is_shared, tags, view_id, display
)
on logloom.saved_searches to authenticated, service_role;

grant update (name, description, query_dsl, category, is_shared, tags, updated_at, view_id, display)
on logloom.saved_searches to authenticated, service_role;

comment on table logloom.saved_searches is
  'Saved queries. A query is private to its creator, or shared with the tenant to read and run.';

comment on column logloom.saved_searches.created_by is 'The claim sub of its creator.';

comment on column logloom.saved_searches.view_id is
  'If the search is shared, readers of this view see it in their list.';

comment on column logloom.saved_searches.display is
  'Settings for the page that shows the search, such as range and columns. The database does not '
  'read them.';
