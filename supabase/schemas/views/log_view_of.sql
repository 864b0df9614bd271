-- A view as the operations show it.
create function logloom_private.log_view_of(p_row logloom.log_views)
returns public.logloom_log_view
language sql
stable
return row(
  p_row.view_id, p_row.tenant_id, p_row.name, p_row.query_dsl, p_row.hidden_fields,
  p_row.operations, p_row.created_by, p_row.created_at, p_row.updated_at
);
