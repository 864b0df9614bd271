-- The parts of the portal and their operations. A session with parts may call the operations of
-- its parts and no others. The page calls validate_query to notice that its session has ended.
create function logloom_private.portal_parts()
returns table (part text, operations text[])
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select p.part, p.operations::text[]
  from (
    values
      (
        'search',
        '{get_log,get_log_context,list_log_fields,log_changes,log_histogram,log_overview,'
          'log_series,log_stats,search_logs,tail_logs,validate_query}'
      ),
      -- An export reads its records as search_logs does.
      ('exports', '{export_logs,search_logs,validate_query}'),
      ('errors', '{get_error_group,list_error_groups,validate_query}'),
      ('audit', '{list_audit_events,validate_query}'),
      -- Panels read with log_stats and log_series, the menus of variables with list_log_fields.
      (
        'dashboards',
        '{get_log_dashboard,list_log_dashboards,list_log_fields,log_series,log_stats,'
          'validate_query}'
      ),
      (
        'streams',
        '{create_log_stream,delete_log_stream,get_log_secret_scope,get_log_stream,'
          'list_log_stream_failures,list_log_streams,test_log_stream,update_log_stream,'
          'validate_query}'
      ),
      (
        'alerts',
        '{acknowledge_alert,confirm_alert_address,create_alert_rule,delete_alert_rule,'
          'get_alert_incident,get_alert_rule,get_log_secret_scope,list_alert_addresses,'
          'list_alert_history,list_alert_incidents,list_alert_rules,preview_alert_rule,'
          'rotate_alert_webhook_secret,test_alert_rule,update_alert_incident,update_alert_rule,'
          'validate_query}'
      ),
      ('usage', '{get_tenant_usage,validate_query}')
  ) p (part, operations);
end;
$$;

-- Returns the operations of a session with parts. p_of_view: the operations of its view; null: all.
-- A view cannot name operations on the whole tenant or for customers, so their part alone decides.
create function logloom_private.operations_of_parts(p_parts text[], p_of_view text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select distinct n.name
    from logloom_private.portal_parts() p
    cross join lateral unnest(p.operations) n (name)
    left join logloom_private.reading_operations() o on o.operation = n.name
    where p.part = any (p_parts)
      and (
        p_of_view is null or n.name = any (p_of_view) or o.in_views is not true
        -- These are about the customer's own rules, not about those of the view.
        or p.part = 'alerts' and n.name in ('list_alert_history', 'list_alert_rules')
      )
  );
end;
$$;
