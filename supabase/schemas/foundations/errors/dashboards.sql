-- Dashboards. The error for a check constraint of log_dashboards has the name of the constraint.
create function logloom_private.dashboards_errors()
returns setof logloom_private.error
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
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
      'Delete a dashboard, or choose a larger plan.', null),
    ('dashboards.not_its_creator', 403, 'Only its creator may change or delete a dashboard',
      'Create your own with create_log_dashboard.', 'A colleague created and shared it.'),
    ('dashboards.not_found', 404, 'Dashboard not found',
      'list_log_dashboards shows the dashboards that you can see.',
      'It does not exist, belongs to another tenant, or is a colleague''s private one.'),
    ('dashboards.changed_since', 409, 'The dashboard has changed since p_updated_at',
      'Read it again with get_log_dashboard, then repeat your change.', null);
end;
$$;
