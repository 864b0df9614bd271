-- The operations that read for keys, and the function of each: it takes a scope, then what the
-- operation takes.
create function logloom_private.reading_operations()
returns table (operation text, reader text)
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select o.*
  from (
    values
      ('export_logs', 'read_log_export'),
      ('get_log', 'read_log'),
      ('get_log_context', 'read_log_context'),
      ('list_alert_history', 'read_alert_history'),
      ('list_alert_rules', 'read_alert_rules'),
      ('list_log_fields', 'read_log_fields'),
      ('list_saved_searches', 'read_saved_searches'),
      ('log_changes', 'read_log_changes'),
      ('log_histogram', 'read_log_histogram'),
      ('log_overview', 'read_log_overview'),
      ('log_series', 'read_log_series'),
      ('log_stats', 'read_log_stats'),
      ('search_logs', 'read_log_page'),
      ('tail_logs', 'read_log_tail'),
      ('validate_query', 'read_query_validity')
  ) o (operation, reader);
end;
$$;
