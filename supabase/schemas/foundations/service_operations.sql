-- Those of the operations that the edge functions alone may call, as service_role.
create function logloom_private.service_operations()
returns text[]
language sql
immutable
return array[
  'claim_alert_notifications',
  'claim_log_archive_work',
  'claim_log_streams',
  'complete_alert_notification',
  'health_report',
  'ingest_text',
  'list_unsealed_alert_secrets',
  'match_log_archive',
  'open_log_portal_session',
  'read_log_stream_batch',
  'read_logs',
  'run_writer',
  'seal_alert_secret',
  'settle_alert_notification',
  'settle_log_archive_work',
  'settle_log_stream_batch'
];
