-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- saved_searches/types/saved_search.sql
-- Saved searches, and the plan's features, of which they are the first.

create type public.logloom_saved_search as (
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
  run_count bigint,
  view_id uuid,
  display jsonb
);

comment on type public.logloom_saved_search is
  'A saved search. created_by: the claim sub of who made it. run_count: runs by anybody. '
  'view_id: the view whose readers find it in their list. display: what a page shows beside the '
  'query, such as its range and columns.';

-- saved_searches/tables/saved_searches.sql
-- At most 20 tags of 1 to 50 characters each.
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
  'Queries that users keep: private to their creator, or shared with the tenant to read and run.';

comment on column logloom.saved_searches.created_by is 'The claim sub of who made it.';

comment on column logloom.saved_searches.view_id is
  'The view whose readers find it in their list, if it is shared.';

comment on column logloom.saved_searches.display is
  'What a page shows beside the query: its range, columns and the like. The page says what it '
  'means.';

-- saved_searches/check_query.sql
-- PT400 unless the query compiles and is not blank, PT429 where too many long ones of the tenant
-- are being compiled; for an alert rule, also when it has other stages than one aggregate, or
-- probably means something else than was meant.
create function logloom_private.check_query(p_query_dsl text, p_is_alert boolean default false)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
declare
  v_query logloom_private.compiled_query;
begin
  if octet_length(p_query_dsl) > (select s.quick_query_bytes from logloom_private.settings s) then
    perform logloom_private.take_validation_slot(
      coalesce(logloom_private.current_tenant_id(), '')
    );
  end if;
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.blank then
    perform logloom_private.refuse('saved_searches.query_is_blank');
  end if;
  if not p_is_alert then
    return;
  elsif v_query.plan ? 'first' and (
    (v_query.plan -> 'count')::integer > 1
    or v_query.plan ? 'bucket'
    or jsonb_array_length(v_query.plan -> 'aggregates') is distinct from 1
  ) then
    perform logloom_private.refuse_at(
      (v_query.plan -> 'first' ->> 'position')::integer, 'alerts.query_gives_no_number'
    );
  end if;
  perform logloom_private.refuse_warnings(v_query);
end;
$$;

-- saved_searches/create_saved_search.sql
create function public.create_saved_search(
  p_name text default null,
  p_query_dsl text default null,
  p_description text default null,
  p_category text default null,
  p_is_shared boolean default false,
  p_tags text[] default null,
  p_view_id uuid default null,
  p_display jsonb default null
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_id uuid;
begin
  perform logloom_private.require_parameter('p_name', p_name is null);
  perform logloom_private.require_parameter('p_query_dsl', p_query_dsl is null);
  perform logloom_private.check_query(p_query_dsl);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_room_for('saved_searches');
  insert into logloom.saved_searches (
    tenant_id, created_by, name, query_dsl, description, category, is_shared, tags, view_id,
    display
  )
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), p_query_dsl,
    nullif(logloom_private.trim_space(p_description), ''),
    nullif(logloom_private.trim_space(p_category), ''),
    coalesce(p_is_shared, false), coalesce(p_tags, '{}'), p_view_id,
    coalesce(p_display, '{}')
  )
  returning id into v_id;
  return v_id;
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$$;

comment on function public.create_saved_search(
  text, text, text, text, boolean, text[], uuid, jsonb
) is
  'Saves a search and returns its id. p_name: 1 to 200 characters after trimming. p_query_dsl must '
  'compile. p_tags: at most 20. p_view_id, for admins: the view whose readers find it in their '
  'list, if it is shared. p_display: an object of at most 4,000 bytes, kept for the page that '
  'shows it. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

-- saved_searches/delete_saved_search.sql
create function public.delete_saved_search(p_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  delete from logloom.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_saved_search(uuid) is
  'Deletes a saved search. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';

-- saved_searches/get_saved_search.sql
create function public.get_saved_search(p_id uuid default null)
returns public.logloom_saved_search
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  select s.* into v_row
  from logloom.saved_searches s
  where s.tenant_id = v_tenant_id and s.id = p_id;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
end;
$$;

comment on function public.get_saved_search(uuid) is
  'A saved search of the caller, or one that a colleague shares. Errors: PT400, PT401, PT404.';

-- saved_searches/get_saved_search_categories.sql
create function public.get_saved_search_categories()
returns text[]
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  return array(
    select distinct s.category
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.category is not null
    order by s.category
  );
end;
$$;

comment on function public.get_saved_search_categories() is
  'Categories of the saved searches that the caller can read, each once, sorted. '
  'Errors: PT400, PT401.';

-- saved_searches/get_saved_search_count.sql
create function public.get_saved_search_count()
returns bigint
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_user_id constant text := logloom_private.current_user_id();
begin
  return (
    select count(*)
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.created_by = v_user_id
  );
end;
$$;

comment on function public.get_saved_search_count() is
  'How many saved searches the caller has. Errors: PT400, PT401.';

-- saved_searches/list_saved_searches.sql
-- Saved searches that a reader finds: a user their own and those that are shared, a key those that
-- are shared; within a view those of them that are the view's.
create function logloom_private.read_saved_searches(
  p_scope logloom_private.reading_scope,
  include_shared boolean,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_saved_search
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_saved_searches');
  v_user_id constant text := case
    when p_scope is null and v_scope.view_id is null then logloom_private.current_user_id()
  end;
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'saved search', 'id',
    (
      select s.created_at from logloom.saved_searches s
      where s.tenant_id = v_scope.tenant_id and s.id = p_after
        and (s.is_shared or s.created_by = v_user_id)
        and (v_scope.view_id is null or s.view_id = v_scope.view_id)
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select o as item
      from logloom.saved_searches s
      cross join lateral logloom_private.saved_search_of(s) o
      where s.tenant_id = v_scope.tenant_id
        and (s.is_shared or s.created_by = v_user_id)
        and (v_scope.view_id is null or s.view_id = v_scope.view_id)
        and (include_shared is distinct from false or s.created_by = v_user_id)
        and (p_after is null or (s.created_at, s.id) < (v_after, p_after))
      order by s.created_at desc, s.id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

create function public.list_saved_searches(
  include_shared boolean default true,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_saved_search
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select s.* from logloom_private.read_saved_searches(null, include_shared, p_limit, p_after) s;
end;
$$;

comment on function public.list_saved_searches(boolean, integer, uuid) is
  'The caller''s saved searches and, unless include_shared is false, those that colleagues share, '
  'newest first. p_limit 1 to 1000 (default 100), p_after: id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- saved_searches/refuse_saved_search.sql
-- Says why the caller may not change a saved search: PT404, or PT403 where it is a colleague's.
create function logloom_private.refuse_saved_search(p_id uuid)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.saved_searches s where s.id = p_id) then
    perform logloom_private.refuse('saved_searches.not_its_creator');
  end if;
  perform logloom_private.refuse('saved_searches.not_found');
end;
$$;

-- saved_searches/run_saved_search.sql
create type public.logloom_saved_search_run as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  stats public.logloom_log_stat[]
);

comment on type public.logloom_saved_search_run is
  'What a saved search finds: a page of records or, where it aggregates, the rows of stats.';

create function logloom_private.read_saved_search(
  p_query_dsl text,
  p_ts_from text,
  p_ts_to text,
  p_limit integer,
  p_cursor text
)
returns public.logloom_saved_search_run
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because whether the query aggregates is for the compiler to say
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.search_query(null, p_query_dsl, now(), 'any');
  v_range tstzrange;
  v_run public.logloom_saved_search_run;
begin
  if not v_query.plan ?| array['aggregates', 'patterns'] then
    select p.logs, p.next_cursor, p.ts_from, p.ts_to
    into v_run.logs, v_run.next_cursor, v_run.ts_from, v_run.ts_to
    from logloom_private.read_log_page(
      null, p_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor, null
    ) p;
    return v_run;
  end if;
  v_range := logloom_private.search_range(p_ts_from, p_ts_to);
  v_run.logs := '{}';
  v_run.ts_from := lower(v_range);
  v_run.ts_to := upper(v_range);
  v_run.stats := array(
    select s
    from logloom_private.read_log_stats(null, p_query_dsl, p_ts_from, p_ts_to, p_limit) s
  );
  return v_run;
end;
$$;

-- Counts a run of a saved search that the caller may read.
create function logloom_private.note_saved_search_run(p_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because who runs a colleague's shared search may not change it otherwise
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
begin
  update logloom.saved_searches s
  set run_count = s.run_count + 1, last_run_at = now()
  where s.id = p_id
    and s.tenant_id = v_tenant_id
    and (s.is_shared or s.created_by = logloom_private.current_user_id());
end;
$$;

create function public.run_saved_search(
  p_id uuid default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_cursor text default null
)
returns public.logloom_saved_search_run
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
declare
  v_query_dsl text;
  v_run public.logloom_saved_search_run;
begin
  select s.query_dsl into v_query_dsl from public.get_saved_search(p_id) s;
  v_run := logloom_private.read_saved_search(
    v_query_dsl, p_ts_from, p_ts_to, p_limit, p_cursor
  );
  -- Further pages belong to the run that the first one began.
  if p_cursor is null then
    perform logloom_private.note_saved_search_run(p_id);
  end if;
  return v_run;
end;
$$;

comment on function public.run_saved_search(uuid, text, text, integer, text) is
  'Runs a saved search of the caller or one that a colleague shares, and counts the run. As '
  'search_logs; where the query aggregates, stats holds the rows of log_stats. '
  'Errors: PT400, PT401, PT404, PT408.';

-- saved_searches/saved_search_of.sql
-- A saved search as the operations show it.
create function logloom_private.saved_search_of(p_row logloom.saved_searches)
returns public.logloom_saved_search
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.id, p_row.name, p_row.description, p_row.query_dsl, p_row.category, p_row.is_shared,
    p_row.tags, p_row.created_by, p_row.created_at, p_row.updated_at, p_row.last_run_at,
    p_row.run_count, p_row.view_id, p_row.display
  );
end;
$$;

-- saved_searches/update_saved_search.sql
create function public.update_saved_search(
  p_id uuid default null,
  p_name text default null,
  p_query_dsl text default null,
  p_description text default null,
  p_category text default null,
  p_is_shared boolean default null,
  p_tags text[] default null,
  p_view_id uuid default null,
  p_display jsonb default null
)
returns public.logloom_saved_search
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_constraint text;
  v_row logloom.saved_searches;
begin
  perform logloom_private.require_parameter('p_id', p_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl);
  end if;
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  -- An empty description or category takes it away.
  update logloom.saved_searches s
  set
    name = coalesce(logloom_private.trim_space(p_name), s.name),
    query_dsl = coalesce(p_query_dsl, s.query_dsl),
    description = nullif(coalesce(logloom_private.trim_space(p_description), s.description), ''),
    category = nullif(coalesce(logloom_private.trim_space(p_category), s.category), ''),
    is_shared = coalesce(p_is_shared, s.is_shared),
    tags = coalesce(p_tags, s.tags),
    view_id = coalesce(p_view_id, s.view_id),
    display = coalesce(p_display, s.display),
    updated_at = now()
  where s.tenant_id = v_tenant_id and s.id = p_id and s.created_by = v_user_id
  returning s.* into v_row;
  if not found then
    perform logloom_private.refuse_saved_search(p_id);
  end if;
  return logloom_private.saved_search_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('saved_searches.' || v_constraint);
  return null;
end;
$$;

comment on function public.update_saved_search(
  uuid, text, text, text, text, boolean, text[], uuid, jsonb
) is
  'Changes what is given and returns the saved search. An empty p_description or p_category takes '
  'it away. p_view_id, for admins: the view whose readers find it in their list, if it is shared. '
  'p_display takes the place of the one before. '
  'Errors: PT400, PT401, PT403 (a colleague''s), PT404.';

select logloom_private.finish_migration();
