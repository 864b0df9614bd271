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
