create function public.create_log_dashboard(
  p_name text default null,
  p_panels jsonb default '[]',
  p_is_shared boolean default false
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
  perform logloom_private.require_parameter('p_name', p_name is null);
  v_panels := logloom_private.checked_panels(coalesce(p_panels, '[]'));
  perform logloom_private.require_room_for_log_dashboard();
  insert into logloom.log_dashboards (tenant_id, created_by, name, is_shared, panels)
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), coalesce(p_is_shared, false),
    v_panels
  )
  returning * into v_row;
  return logloom_private.log_dashboard_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('dashboards.' || v_constraint);
  return null;
end;
$$;

comment on function public.create_log_dashboard(text, jsonb, boolean) is
  'Makes a dashboard and returns it. p_name: 1 to 200 characters after trimming. p_panels: at most '
  '20 objects {title, query_dsl, kind, width}, kind lines, bars or number, width 1 to 12 (default '
  '6). p_is_shared: colleagues see it, too. Errors: PT400 (plan limit, too), PT401, PT403.';
