-- A saved search as the operations show it.
create function logloom_private.saved_search_of(p_row logloom.saved_searches)
returns public.logloom_saved_search
language sql
stable
return row(
  p_row.id, p_row.name, p_row.description, p_row.query_dsl, p_row.category, p_row.is_shared,
  p_row.tags, p_row.created_by, p_row.created_at, p_row.updated_at, p_row.last_run_at,
  p_row.run_count, p_row.view_id, p_row.display
);
