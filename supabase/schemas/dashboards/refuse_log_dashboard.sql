-- Says why the caller may not change a dashboard: PT404, PT403 where it is a colleague's, PT409
-- where it is not the one that they read.
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
