create function public.update_log_dashboard(
  p_dashboard_id uuid default null,
  p_name text default null,
  p_panels jsonb default null,
  p_is_shared boolean default null,
  p_updated_at timestamptz default null
)
returns public.logloom_log_dashboard
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_panels jsonb;
  v_constraint text;
  v_row logloom.log_dashboards;
begin
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  if p_panels is not null then
    v_panels := logloom_private.checked_panels(p_panels);
  end if;
  update logloom.log_dashboards d
  set
    name = coalesce(logloom_private.trim_space(p_name), d.name),
    panels = coalesce(v_panels, d.panels),
    is_shared = coalesce(p_is_shared, d.is_shared),
    updated_at = now()
  where d.tenant_id = v_tenant_id and d.dashboard_id = p_dashboard_id and d.created_by = v_user_id
    and (p_updated_at is null or d.updated_at = p_updated_at)
  returning d.* into v_row;
  if not found then
    perform logloom_private.refuse_log_dashboard(p_dashboard_id);
  end if;
  return logloom_private.log_dashboard_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('dashboards.' || v_constraint);
  return null;
end;
$$;

comment on function public.update_log_dashboard(uuid, text, jsonb, boolean, timestamptz) is
  'Changes what is given and returns the dashboard; p_panels takes the place of all panels. '
  'p_updated_at: updated_at of the dashboard as it was read, to change no other. '
  'Errors: PT400, PT401, PT403 (a colleague''s), PT404, PT409 (changed since p_updated_at).';
