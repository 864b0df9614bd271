-- Says why the caller may not change a dashboard: PT404, or PT403 where it is a colleague's.
create function logloom_private.refuse_log_dashboard(p_dashboard_id uuid)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from logloom.log_dashboards d where d.dashboard_id = p_dashboard_id) then
    perform logloom_private.refuse('dashboards.not_its_creator');
  end if;
  perform logloom_private.refuse('dashboards.not_found');
end;
$$;
