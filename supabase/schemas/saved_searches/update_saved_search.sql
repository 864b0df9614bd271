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
