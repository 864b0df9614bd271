-- Everything that files can describe. A new type is one row here and one in the command line's
-- schema (packages/logloom/src/cli/files/file_schema.ts).
create function logloom_private.file_types()
returns setof logloom_private.file_type
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query values
    (1, 'views', 'name', 'view_id',
      'list_log_views', 'create_log_view', 'update_log_view', 'delete_log_view',
      '{"query_dsl": "", "hidden_fields": [], "operations": ["all"]}'::jsonb,
      '{}'::text[], '{}'::text[]),
    -- Before what pauses when its maker is removed.
    (2, 'members', 'user_id', 'user_id',
      'list_tenant_members', 'add_tenant_member', 'set_tenant_member_role',
      'remove_tenant_member', '{"role": null, "view": ""}', '{}', '{role,view}'),
    (3, 'saved_searches', 'name', 'id',
      'list_saved_searches', 'create_saved_search', 'update_saved_search', 'delete_saved_search',
      '{"query_dsl": null, "description": "", "category": "", "tags": [], "display": {},
        "view": ""}', '{}', '{}'),
    (4, 'alert_rules', 'name', 'rule_id',
      'list_alert_rules', 'create_alert_rule', 'update_alert_rule', 'delete_alert_rule',
      '{"kind": "query", "description": "", "query_dsl": null, "threshold": null,
        "comparison": null, "window_minutes": null, "cooldown_minutes": null, "enabled": true,
        "notification_destinations": [], "notification_config": {}, "notify_on_recovery": false,
        "for_minutes": 0, "on_absent": "ignore", "group_wait_seconds": 0, "baseline": {},
        "secrets": {}, "view": ""}', '{kind}', '{threshold}'),
    (5, 'dashboards', 'name', 'dashboard_id',
      'list_log_dashboards', 'create_log_dashboard', 'update_log_dashboard',
      'delete_log_dashboard', '{"panels": [], "in_portal": false}', '{}', '{}'),
    (6, 'streams', 'name', 'stream_id',
      'list_log_streams', 'create_log_stream', 'update_log_stream', 'delete_log_stream',
      '{"kind": null, "query_dsl": "", "config": null, "source": "logs", "enabled": true,
        "secrets": {}, "view": ""}', '{kind,source}', '{}'),
    (7, 'ingest_rules', 'name', 'rule_id',
      'list_ingest_rules', 'create_ingest_rule', 'update_ingest_rule', 'delete_ingest_rule',
      '{"condition": "", "action": null, "is_on": true, "secrets": {}}', '{}', '{}'),
    (8, 'silences', 'comment', 'silence_id',
      'list_alert_silences', 'create_alert_silence', null, 'expire_alert_silence',
      '{"rule": "", "group": {}, "recurrence": {}}', '{}', '{}'),
    (9, 'retention_rules', 'name', 'tenant_id',
      'get_tenant_settings', null, 'set_retention_rules', null, '{"rules": []}', '{}', '{}');
end;
$$;
