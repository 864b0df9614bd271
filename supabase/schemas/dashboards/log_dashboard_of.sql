-- A dashboard as the operations show it.
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
    p_row.created_by, p_row.created_at, p_row.updated_at
  );
end;
$$;
