-- Dashboards that the caller may look at: their own and those that colleagues share; a viewer those
-- that are shared. All of them, or one.
create function logloom_private.read_shown_dashboards(p_dashboard_id uuid default null)
returns setof logloom.log_dashboards
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no table is open to who only reads
declare
  -- PT403 for a viewer whose view shows nothing.
  v_scope constant logloom_private.reading_scope := logloom_private.scope_of_token(null);
  v_user_id constant text := case
    when v_scope.view_id is null then logloom_private.current_user_id()
  end;
begin
  perform logloom_private.require_writing_client(logloom_private.claims());
  return query
  select d.*
  from logloom.log_dashboards d
  where d.tenant_id = v_scope.tenant_id
    and (p_dashboard_id is null or d.dashboard_id = p_dashboard_id)
    and (d.is_shared or d.created_by = v_user_id);
end;
$$;
