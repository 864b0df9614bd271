create table logloom_private.settings (
  singleton boolean primary key default true,
  queue_degraded_events bigint not null default 100000,
  queue_degraded_age interval not null default '30 seconds',
  queue_unhealthy_age interval not null default '600 seconds',
  queue_hard_limit_bytes bigint,
  writer_degraded_silence interval not null default '60 seconds',
  writer_unhealthy_silence interval not null default '300 seconds',
  writer_step_events integer not null default 20000,
  writer_guard_silence interval not null default '20 seconds',
  ingest_future_limit interval not null default '24 hours',
  provision_by_secret_key boolean not null default false,
  max_record_bytes integer not null default 1048576,
  max_record_values integer not null default 160000,
  partition_days_ahead integer not null default 7,
  deletion_step_records integer not null default 10000,
  deletion_pause interval not null default '50 milliseconds',
  partition_drop_lock_timeout interval not null default '200 milliseconds',
  audit_lifetime interval not null default '400 days',
  alert_history_lifetime interval not null default '400 days',
  api_pool_size integer not null default 10,
  search_free_time interval not null default '25 milliseconds',
  search_page_time interval not null default '5 seconds',
  search_stage_records integer not null default 100000,
  search_groups integer not null default 100000,
  alert_grace interval not null default '2 minutes',
  alert_rule_budget interval not null default '1 second',
  alert_rule_records integer not null default 2000000,
  alert_groups integer not null default 50,
  notification_open_limit integer not null default 60,
  seal_after interval not null default '6 hours',
  seal_day_records integer not null default 1000,
  seal_week_records integer not null default 30,
  seal_block_records integer not null default 32000,
  seal_block_bytes bigint not null default 16000000,
  seal_queue_events bigint not null default 20000,
  token_audience text,
  tenants_by_users boolean not null default false,
  tenants_by_anonymous_users boolean not null default false,
  writing_clients text[] not null default '{}',
  max_page_bytes integer not null default 7340032,
  roles_required boolean not null default false,
  roles_from_token boolean not null default false,
  portal_url text,
  portal_session_lifetime_max interval not null default '7 days',
  verify_every interval not null default '7 days',
  canary_url text,
  stream_interval interval not null default '10 seconds',
  stream_open_limit integer not null default 40,
  stream_lag_limit interval not null default '1 hour',
  console_url text,
  archive_after interval not null default '1 day',
  archive_bucket text,
  archive_grace interval not null default '7 days',
  archive_overtaken text not null default 'keep',
  archive_plan_every interval not null default '10 minutes',
  archive_prefix text not null default 'logloom',
  max_storage_bytes bigint,
  project_tenant_id text,
  storage_policy text not null default 'drop_oldest',
  sql_log_events integer not null default 1000,
  count_dropped boolean not null default false,
  constraint settings_api_pool_size_is_positive check (api_pool_size >= 2),
  constraint settings_notification_open_limit_is_positive check (notification_open_limit >= 1),
  -- With a lower limit, attrs.logloom_cut has no room in a record. With a higher limit, a record
  -- does not fit a page.
  constraint settings_max_record_bytes_is_within_bounds check (
    max_record_bytes between 65536 and 8388608
  ),
  constraint settings_max_record_values_is_within_bounds check (
    max_record_values between 4096 and 8388608
  ),
  constraint settings_has_one_row check (singleton),
  constraint settings_portal_url_is_an_address check (
    portal_url ~ '^https?://[^\s#]+$' and length(portal_url) <= 500
  ),
  constraint settings_canary_url_is_an_address check (
    canary_url ~ '^https?://[^\s#?]+$' and length(canary_url) <= 500
  ),
  constraint settings_console_url_is_an_address check (
    console_url ~ '^https?://[^\s#]+$' and length(console_url) <= 500
  ),
  -- Windows end at full minutes.
  constraint settings_alert_grace_is_whole_minutes check (
    alert_grace >= interval '0' and alert_grace = date_trunc('minute', alert_grace)
  ),
  constraint settings_archive_overtaken_is_known check (archive_overtaken in ('keep', 'drop')),
  constraint settings_archive_bucket_is_a_name check (
    archive_bucket ~ '^[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]$'
  ),
  constraint settings_archive_prefix_is_a_path check (
    archive_prefix ~ '^[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*$'
    and length(archive_prefix) <= 200
  ),
  constraint settings_project_tenant_id_is_not_blank check (project_tenant_id ~ '\S'),
  constraint settings_max_storage_bytes_is_positive check (max_storage_bytes > 0),
  constraint settings_storage_policy_is_known check (storage_policy in ('drop_oldest', 'refuse')),
  constraint settings_sql_log_events_is_positive check (sql_log_events >= 1),
  constraint settings_block_has_positions check (seal_block_records between 1 and 32000)
);

insert into logloom_private.settings default values;

comment on table logloom_private.settings is
  'Settings of the service that an operator may change. Plans have further settings. One row. Each '
  'setting is read where it is enforced. All other limits are constants of the functions that use '
  'them.';
