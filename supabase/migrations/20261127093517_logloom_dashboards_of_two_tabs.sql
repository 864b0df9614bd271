-- A dashboard is changed only as it was read, where updated_at is told.

set local check_function_bodies = off;

do $$
begin
  -- Jobs and requests read the settings first: those under way end, and no other begins.
  perform set_config('lock_timeout', '30s', true);
  lock table logloom_private.settings, logloom.plans in access exclusive mode;
  perform set_config('lock_timeout', '0', true);
end;
$$;

DROP FUNCTION "public"."update_log_dashboard"(uuid, text, jsonb, boolean);

CREATE OR REPLACE FUNCTION logloom_private.dashboards_errors()
  RETURNS SETOF logloom_private.error
  LANGUAGE plpgsql
  IMMUTABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
begin
  return query
  select e.*
  from (
    values
    ('dashboards.log_dashboards_name_is_valid', 400,
      'Invalid p_name: 1 to 200 characters after trimming',
      'Name the dashboard after what it shows.', null),
    ('dashboards.panels_are_no_array', 400, 'Invalid p_panels: not an array',
      'Send an array of objects {title, query_dsl, kind, width}.', null),
    ('dashboards.log_dashboards_panels_are_few', 400, 'Invalid p_panels: at most 20',
      'Make a second dashboard for the rest.', null),
    ('dashboards.panel_is_invalid', 400, 'Invalid panel %s: {title, query_dsl, kind, width}',
      'title has 1 to 100 characters, kind is lines, bars or number, width is 1 to 12.', null),
    ('dashboards.no_room', 400, 'Plan limit exceeded: log_dashboards (max %s)',
      'Delete one, or ask for a larger plan.', null),
    ('dashboards.not_its_creator', 403, 'Only its creator may change or delete a dashboard',
      'Make one of your own with create_log_dashboard.', 'It is a colleague''s, shared.'),
    ('dashboards.not_found', 404, 'Dashboard not found',
      'list_log_dashboards shows those that you can see.',
      'It is not there, another tenant''s, or a colleague''s private one.'),
    ('dashboards.changed_since', 409, 'The dashboard has changed since p_updated_at',
      'Read it with get_log_dashboard, and make the change again.', null)
  ) e (name, status, message, hint, explanation);
end;
$function$;

CREATE OR REPLACE FUNCTION logloom_private.refuse_log_dashboard (
  p_dashboard_id uuid
)
  RETURNS void
  LANGUAGE plpgsql
  STABLE
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION public.update_log_dashboard (
  p_dashboard_id uuid                     DEFAULT NULL::uuid,
  p_name         text                     DEFAULT NULL::text,
  p_panels       jsonb                    DEFAULT NULL::jsonb,
  p_is_shared    boolean                  DEFAULT NULL::boolean,
  p_updated_at   timestamp with time zone DEFAULT NULL::timestamp WITH time zone
)
  RETURNS public.logloom_log_dashboard
  LANGUAGE plpgsql
  SET search_path TO 'pg_catalog', 'pg_temp'
  AS $function$
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
$function$;

REVOKE ALL ON FUNCTION "public"."update_log_dashboard"(uuid, text, jsonb, boolean, timestamp WITH time zone) FROM PUBLIC, "anon";

COMMENT ON FUNCTION "public"."update_log_dashboard"(uuid, text, jsonb, boolean, timestamp with time zone) IS 'Changes what is given and returns the dashboard; p_panels takes the place of all panels. p_updated_at: updated_at of the dashboard as it was read, to change no other. Errors: PT400, PT401, PT403 (a colleague''s), PT404, PT409 (changed since p_updated_at).';

GRANT EXECUTE ON FUNCTION "public"."update_log_dashboard"(uuid, text, jsonb, boolean, timestamp WITH time zone) TO "authenticated", "service_role";

select logloom_private.finish_migration();
