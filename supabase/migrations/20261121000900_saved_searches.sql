-- Saved searches, and the plan's features, of which they are the first.

create type public.saved_search as (
  id uuid,
  name text,
  description text,
  query_dsl text,
  category text,
  is_shared boolean,
  tags text[],
  created_by text,
  created_at timestamptz,
  updated_at timestamptz,
  last_run_at timestamptz,
  run_count bigint
);

create type public.plan_feature as (
  enabled boolean,
  "maxCount" integer,
  "currentCount" integer
);

create function private.tags_are_valid(p_tags text[])
returns boolean
language plpgsql
immutable
security invoker
set search_path = ''
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

create table app.saved_searches (
  id uuid primary key default gen_random_uuid(),
  tenant_id text not null references app.tenants on delete cascade,
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
  constraint saved_searches_name_is_valid check (
    name = private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint saved_searches_description_is_valid check (length(description) between 1 and 2000),
  constraint saved_searches_category_is_valid check (
    category = private.trim_space(category) and length(category) between 1 and 100
  ),
  constraint saved_searches_tags_are_valid check (private.tags_are_valid(tags))
);

create index saved_searches_tenant_id_created_at_idx
on app.saved_searches (tenant_id, created_at desc, id desc);

alter table app.saved_searches enable row level security;
alter table app.saved_searches force row level security;

create policy saved_searches_select_creator_or_shared on app.saved_searches
for select to authenticated
using (
  tenant_id = (select private.current_tenant_id())
  and (is_shared or created_by = (select private.current_user_id()))
);

create policy saved_searches_insert_creator on app.saved_searches
for insert to authenticated
with check (
  tenant_id = (select private.current_tenant_id())
  and created_by = (select private.current_user_id())
);

create policy saved_searches_update_creator on app.saved_searches
for update to authenticated
using (
  tenant_id = (select private.current_tenant_id())
  and created_by = (select private.current_user_id())
)
with check (
  tenant_id = (select private.current_tenant_id())
  and created_by = (select private.current_user_id())
);

create policy saved_searches_delete_creator on app.saved_searches
for delete to authenticated
using (
  tenant_id = (select private.current_tenant_id())
  and created_by = (select private.current_user_id())
);

grant select, delete on app.saved_searches to authenticated, service_role;
grant insert (tenant_id, created_by, name, description, query_dsl, category, is_shared, tags)
on app.saved_searches to authenticated, service_role;
grant update (name, description, query_dsl, category, is_shared, tags, updated_at)
on app.saved_searches to authenticated, service_role;

create function private.plan_feature(p_tenant_id text, p_feature text)
returns public.plan_feature
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because a plan counts what a colleague keeps private, too
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_plan app.plans;
begin
  select p.* into v_plan
  from app.plans p
  left join app.tenants t on t.tenant_id = v_tenant_id
  where p.plan_id = t.plan_id or t.plan_id is null and p.is_default;

  if p_feature = 'saved_searches' then
    return row(
      v_plan.saved_searches,
      case when v_plan.saved_searches then v_plan.max_saved_searches else 0 end,
      (select count(*)::integer from app.saved_searches s where s.tenant_id = v_tenant_id)
    );
  elsif p_feature = 'alerts' then
    return row(
      v_plan.alerts,
      case when v_plan.alerts then v_plan.max_alerts else 0 end,
      (select count(*)::integer from app.alert_rules r where r.tenant_id = v_tenant_id)
    );
  end if;
  return row(false, 0, 0);
end;
$$;

create function private.require_room_in_plan(p_tenant_id text, p_feature text)
returns void
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role may lock a tenant
declare
  v_tenant_id constant text := private.provision_current_tenant(p_tenant_id);
  v_feature public.plan_feature;
begin
  -- Until this transaction ends no other one counts: two creates cannot both take the last place.
  perform from app.tenants t where t.tenant_id = v_tenant_id for no key update;
  v_feature := private.plan_feature(p_tenant_id, p_feature);
  if v_feature."currentCount" >= v_feature."maxCount" then
    raise sqlstate 'PT400' using
      message = format('Plan limit exceeded: %s (max %s)', p_feature, v_feature."maxCount"),
      hint = 'Delete one that is no longer needed, or move to a larger plan.';
  end if;
end;
$$;

create function private.check_query(p_query_dsl text, p_is_alert boolean default false)
returns void
language plpgsql
stable
security definer
set search_path = ''
as $$
-- definer because no API role calls the compiler's parts
declare
  v_query private.compiled_query;
begin
  v_query := private.compile_query(p_query_dsl);
  if v_query.blank then
    raise sqlstate 'PT400' using
      message = 'Invalid p_query_dsl: it is blank',
      hint = 'ts:* finds every record.';
  end if;
  if p_is_alert and cardinality(v_query.by_fields) > 0 then
    raise sqlstate 'PT400' using
      message = 'Invalid p_query_dsl: an alert rule compares one number, so it takes no "by"',
      hint = 'Leave "by" out, or make a rule for each group.';
  end if;
end;
$$;

create function private.refuse_saved_search(p_id uuid)
returns void
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  if exists (select from app.saved_searches s where s.id = p_id) then
    raise sqlstate 'PT403' using
      message = 'Only its creator may change or delete a saved search',
      hint = 'Save it under a name of your own with create_saved_search.';
  end if;
  raise sqlstate 'PT404' using
    message = 'Saved search not found',
    hint = 'list_saved_searches shows those that you can read.';
end;
$$;

create function public.list_saved_searches(
  include_shared boolean default true,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.saved_search
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_user_id constant text := private.current_user_id();
  v_limit constant integer := private.list_limit(p_limit);
  v_after timestamptz;
begin
  if p_after is not null then
    select s.created_at into v_after from app.saved_searches s where s.id = p_after;
    if not found then
      raise sqlstate 'PT400' using
        message = 'Invalid p_after: no such saved search',
        hint = 'Send the id of the last item of the page before.';
    end if;
  end if;

  return query
  select
    s.id, s.name, s.description, s.query_dsl, s.category, s.is_shared, s.tags, s.created_by,
    s.created_at, s.updated_at, s.last_run_at, s.run_count
  from app.saved_searches s
  where s.tenant_id = v_tenant_id
    and (include_shared is distinct from false or s.created_by = v_user_id)
    and (p_after is null or (s.created_at, s.id) < (v_after, p_after))
  order by s.created_at desc, s.id desc
  limit v_limit;
end;
$$;

create function public.get_saved_search(p_id uuid default null)
returns public.saved_search
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_result public.saved_search;
begin
  perform private.require_parameter('p_id', p_id is null);
  select
    s.id, s.name, s.description, s.query_dsl, s.category, s.is_shared, s.tags, s.created_by,
    s.created_at, s.updated_at, s.last_run_at, s.run_count
  into v_result
  from app.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id;
  if not found then
    perform private.refuse_saved_search(p_id);
  end if;
  return v_result;
end;
$$;

create function public.create_saved_search(
  p_name text default null,
  p_query_dsl text default null,
  p_description text default null,
  p_category text default null,
  p_is_shared boolean default false,
  p_tags text[] default null
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_user_id constant text := private.require_user_id();
  v_constraint text;
  v_id uuid;
begin
  perform private.require_parameter('p_name', p_name is null);
  perform private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform private.check_query(p_query_dsl);
  perform private.require_room_in_plan(null, 'saved_searches');
  insert into app.saved_searches (
    tenant_id, created_by, name, query_dsl, description, category, is_shared, tags
  )
  values (
    v_tenant_id, v_user_id, private.trim_space(p_name), p_query_dsl,
    nullif(private.trim_space(p_description), ''), nullif(private.trim_space(p_category), ''),
    coalesce(p_is_shared, false), coalesce(p_tags, '{}')
  )
  returning id into v_id;
  return v_id;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform private.refuse_violation('saved_searches', v_constraint);
  return null;
end;
$$;

create function public.update_saved_search(
  p_id uuid default null,
  p_name text default null,
  p_query_dsl text default null,
  p_description text default null,
  p_category text default null,
  p_is_shared boolean default null,
  p_tags text[] default null
)
returns public.saved_search
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_user_id constant text := private.require_user_id();
  v_constraint text;
  v_result public.saved_search;
begin
  perform private.require_parameter('p_id', p_id is null);
  if p_query_dsl is not null then
    perform private.check_query(p_query_dsl);
  end if;
  -- An empty description or category takes it away.
  update app.saved_searches s
  set
    name = coalesce(private.trim_space(p_name), s.name),
    query_dsl = coalesce(p_query_dsl, s.query_dsl),
    description = nullif(coalesce(private.trim_space(p_description), s.description), ''),
    category = nullif(coalesce(private.trim_space(p_category), s.category), ''),
    is_shared = coalesce(p_is_shared, s.is_shared),
    tags = coalesce(p_tags, s.tags),
    updated_at = now()
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id
  returning
    s.id, s.name, s.description, s.query_dsl, s.category, s.is_shared, s.tags, s.created_by,
    s.created_at, s.updated_at, s.last_run_at, s.run_count
  into v_result;
  if not found then
    perform private.refuse_saved_search(p_id);
  end if;
  return v_result;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform private.refuse_violation('saved_searches', v_constraint);
  return null;
end;
$$;

create function public.delete_saved_search(p_id uuid default null)
returns public.success
language plpgsql
volatile
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_user_id constant text := private.require_user_id();
begin
  perform private.require_parameter('p_id', p_id is null);
  delete from app.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id;
  if not found then
    perform private.refuse_saved_search(p_id);
  end if;
  return row(true)::public.success;
end;
$$;

create function public.check_plan_feature(p_feature text default null)
returns public.plan_feature
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  perform private.require_parameter('p_feature', p_feature is null);
  return private.plan_feature(null, p_feature);
end;
$$;

create function public.get_saved_search_count()
returns bigint
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
  v_user_id constant text := private.current_user_id();
begin
  return (
    select count(*)
    from app.saved_searches s
    where s.tenant_id = v_tenant_id and s.created_by = v_user_id
  );
end;
$$;

create function public.get_saved_search_categories()
returns text[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant();
begin
  return array(
    select distinct s.category
    from app.saved_searches s
    where s.tenant_id = v_tenant_id and s.category is not null
    order by s.category
  );
end;
$$;

grant execute on function
  private.tags_are_valid(text[]),
  private.plan_feature(text, text),
  private.require_room_in_plan(text, text),
  private.check_query(text, boolean),
  private.refuse_saved_search(uuid),
  public.list_saved_searches(boolean, integer, uuid),
  public.get_saved_search(uuid),
  public.create_saved_search(text, text, text, text, boolean, text[]),
  public.update_saved_search(uuid, text, text, text, text, boolean, text[]),
  public.delete_saved_search(uuid),
  public.check_plan_feature(text),
  public.get_saved_search_count(),
  public.get_saved_search_categories()
to authenticated, service_role;

comment on table app.saved_searches is
  'Queries that users keep: private to their creator, or shared with the tenant to read and run.';
comment on column app.saved_searches.created_by is 'The claim sub of who made it.';
comment on constraint saved_searches_name_is_valid on app.saved_searches is
  'Invalid p_name: 1 to 200 characters after trimming
Name the search after what it finds.';
comment on constraint saved_searches_description_is_valid on app.saved_searches is
  'Invalid p_description: at most 2000 characters
Shorten it.';
comment on constraint saved_searches_category_is_valid on app.saved_searches is
  'Invalid p_category: at most 100 characters
Shorten it.';
comment on constraint saved_searches_tags_are_valid on app.saved_searches is
  'Invalid p_tags: at most 20 tags of 1 to 50 characters each
Send a flat array of texts.';
comment on type public.saved_search is
  'A saved search. created_by: the claim sub of who made it. run_count: runs by anybody.';
comment on type public.plan_feature is
  'Whether the plan includes a feature, how many of it, and how many the tenant has.';
comment on function private.tags_are_valid(text[]) is 'At most 20 tags of 1 to 50 characters each.';
comment on function private.plan_feature(text, text) is
  'The plan''s answer for a feature (saved_searches, alerts) of the tenant of the request. '
  'A tenant that is not provisioned has the default plan.';
comment on function private.require_room_in_plan(text, text) is
  'Provisions the tenant of the request and holds it until the transaction ends; PT400 when its '
  'plan has no room for one more.';
comment on function private.check_query(text, boolean) is
  'PT400 unless the query compiles and is not blank; for an alert rule, also when it groups.';
comment on function private.refuse_saved_search(uuid) is
  'Says why the caller may not change a saved search: PT404, or PT403 where it is a colleague''s.';
comment on function public.list_saved_searches(boolean, integer, uuid) is
  'The caller''s saved searches and, unless include_shared is false, those that colleagues share, '
  'newest first. p_limit 1 to 1000 (default 100), p_after: id of the last item of the page before. '
  'Errors: PT400, PT401.';
comment on function public.get_saved_search(uuid) is
  'A saved search of the caller, or one that a colleague shares. Errors: PT400, PT401, PT404.';
comment on function public.create_saved_search(text, text, text, text, boolean, text[]) is
  'Saves a search and returns its id. p_name: 1 to 200 characters after trimming. p_query_dsl must '
  'compile. p_tags: at most 20. Errors: PT400 (plan limit, too), PT401.';
comment on function public.update_saved_search(uuid, text, text, text, text, boolean, text[]) is
  'Changes what is given and returns the saved search. An empty p_description or p_category takes '
  'it away. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
comment on function public.delete_saved_search(uuid) is
  'Deletes a saved search. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
comment on function public.check_plan_feature(text) is
  'Whether the plan includes p_feature (saved_searches, alerts), how many, and how many the tenant '
  'has. An unknown feature is not enabled. Errors: PT400, PT401.';
comment on function public.get_saved_search_count() is
  'How many saved searches the caller has. Errors: PT400, PT401.';
comment on function public.get_saved_search_categories() is
  'Categories of the saved searches that the caller can read, each once, sorted. '
  'Errors: PT400, PT401.';
