create function logloom_private.saved_search_of(p_row logloom.saved_searches)
returns public.logloom_saved_search
language sql
stable
return row(
  p_row.id, p_row.name, p_row.description, p_row.query_dsl, p_row.category, p_row.is_shared,
  p_row.tags, p_row.created_by, p_row.created_at, p_row.updated_at, p_row.last_run_at,
  p_row.run_count, p_row.view_id, p_row.display
);

-- Raises the reason why the caller may not change a saved search: PT404, or PT403 if it belongs to
-- a colleague.
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

-- Compiles a query that will be saved. PT400 if it does not compile or is blank. PT429 if the
-- reader compiles too many long queries at once.
create function logloom_private.checked_query(
  p_query_dsl text,
  p_scope logloom_private.reading_scope
)
returns logloom_private.compiled_query
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query;
begin
  perform logloom_private.take_slot_to_keep(p_scope, p_query_dsl);
  v_query := logloom_private.compile_query(p_query_dsl);
  if v_query.blank then
    perform logloom_private.refuse('saved_searches.query_is_blank');
  end if;
  return v_query;
end;
$$;

create function logloom_private.check_query(p_query_dsl text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may call the compiler
begin
  perform logloom_private.checked_query(
    p_query_dsl,
    logloom_private.scope_of_view(coalesce(logloom_private.current_tenant_id(), ''), null)
  );
end;
$$;

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
  'Returns a saved search of the caller, or one that a colleague shared. Errors: PT400, PT401, '
  'PT404.';

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
  'compile. p_tags: at most 20. p_view_id, for admins: readers of this view see the shared search '
  'in their list. p_display: an object of at most 4,000 bytes for the page that shows the search. '
  'Errors: PT400 (also plan limit), PT401, PT403, PT404.';

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
  'Changes the given members and returns the saved search. An empty p_description or p_category '
  'removes the old value. p_view_id, for admins: readers of this view see the shared search in '
  'their list. p_display replaces the whole object. Errors: PT400, PT401, PT403 (a colleague''s '
  'search), PT404.';

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
  'Deletes a saved search. Errors: PT400, PT401, PT403 (a colleague''s search), PT404.';
