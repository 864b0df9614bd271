create function logloom_private.log_dashboard_of(p_row logloom.log_dashboards)
returns public.logloom_log_dashboard
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.dashboard_id, p_row.tenant_id, p_row.name, p_row.is_shared,
    array(
      select jsonb_populate_record(null::public.logloom_log_panel, p.panel)
      from jsonb_array_elements(p_row.panels) with ordinality p (panel, n)
      order by p.n
    ),
    p_row.created_by, p_row.created_at, p_row.updated_at, p_row.in_portal, null::jsonb
  );
end;
$$;

-- Raises the reason why the caller may not change a dashboard: PT404 if it does not exist, PT403 if
-- it belongs to a colleague, PT409 if it has changed since the caller read it.
create function logloom_private.refuse_log_dashboard(p_dashboard_id uuid)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_created_by constant text := (
    select d.created_by from logloom.log_dashboards d where d.dashboard_id = p_dashboard_id
  );
begin
  if v_created_by = logloom_private.current_user_id() then
    perform logloom_private.refuse('dashboards.changed_since');
  elsif v_created_by is not null then
    perform logloom_private.refuse('dashboards.not_its_creator');
  end if;
  perform logloom_private.refuse('dashboards.not_found');
end;
$$;

-- Creates the tenant of the request if needed, and locks it. Raises PT400 if its plan has no room
-- for another dashboard.
create function logloom_private.require_room_for_log_dashboard()
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role may lock a tenant, and a plan counts private dashboards of colleagues
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_max integer;
begin
  perform logloom_private.hold_tenant(v_tenant_id);
  v_max := (logloom_private.plan_of(v_tenant_id)).max_log_dashboards;
  if (select count(*) from logloom.log_dashboards d where d.tenant_id = v_tenant_id) >= v_max then
    perform logloom_private.refuse('dashboards.no_room', v_max::text);
  end if;
end;
$$;

create function public.create_log_dashboard(
  p_name text default null,
  p_panels jsonb default '[]',
  p_is_shared boolean default false,
  p_in_portal boolean default false
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
  if p_in_portal then
    perform logloom_private.require_role(v_tenant_id, 'admin');
  end if;
  v_panels := logloom_private.checked_panels(coalesce(p_panels, '[]'));
  perform logloom_private.require_room_for_log_dashboard();
  insert into logloom.log_dashboards (tenant_id, created_by, name, is_shared, panels, in_portal)
  values (
    v_tenant_id, v_user_id, logloom_private.trim_space(p_name), coalesce(p_is_shared, false),
    v_panels, coalesce(p_in_portal, false)
  )
  returning * into v_row;
  return logloom_private.log_dashboard_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('dashboards.' || v_constraint);
  return null;
end;
$$;

comment on function public.create_log_dashboard(text, jsonb, boolean, boolean) is
  'Creates a dashboard and returns it. p_name: 1 to 200 characters after trimming. p_panels: at '
  'most 20 objects {title, query_dsl, kind, width}; kind is lines, bars or number, width 1 to 12 '
  '(default 6). p_is_shared: colleagues see it, too. p_in_portal: so do portal sessions with the '
  'part dashboards, if it is shared; requires the role admin. Errors: PT400 (also plan limit), '
  'PT401, PT403.';

create function public.update_log_dashboard(
  p_dashboard_id uuid default null,
  p_name text default null,
  p_panels jsonb default null,
  p_is_shared boolean default null,
  p_updated_at timestamptz default null,
  p_in_portal boolean default null
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
  if p_in_portal and not exists (
    select from logloom.log_dashboards d where d.dashboard_id = p_dashboard_id and d.in_portal
  ) then
    perform logloom_private.require_role(v_tenant_id, 'admin');
  end if;
  if p_panels is not null then
    v_panels := logloom_private.checked_panels(p_panels);
  end if;
  update logloom.log_dashboards d
  set
    name = coalesce(logloom_private.trim_space(p_name), d.name),
    panels = coalesce(v_panels, d.panels),
    is_shared = coalesce(p_is_shared, d.is_shared),
    in_portal = coalesce(p_in_portal, d.in_portal),
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

comment on function public.update_log_dashboard(
  uuid, text, jsonb, boolean, timestamptz, boolean
) is
  'Changes the given members and returns the dashboard. p_panels replaces all panels. '
  'p_updated_at: updated_at as the caller read it. If it is given, the call is refused if somebody '
  'else changed the dashboard since. Errors: PT400, PT401, PT403 (a colleague''s, or p_in_portal '
  'without the role admin), PT404, PT409 '
  '(changed since p_updated_at).';

create function public.delete_log_dashboard(p_dashboard_id uuid default null)
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
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  delete from logloom.log_dashboards d
  where d.tenant_id = v_tenant_id and d.dashboard_id = p_dashboard_id and d.created_by = v_user_id;
  if not found then
    perform logloom_private.refuse_log_dashboard(p_dashboard_id);
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_log_dashboard(uuid) is
  'Deletes a dashboard. Errors: PT400, PT401, PT403 (a colleague''s), PT404.';
