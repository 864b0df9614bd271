create type public.logloom_pipeline_config as (retention_days integer, compression boolean);

comment on type public.logloom_pipeline_config is
  'How long records are kept, and whether compressed.';

create type public.logloom_notification_preferences as (email_enabled boolean,
  webhook_enabled boolean);

comment on type public.logloom_notification_preferences is 'Which channels alerts may use.';

create type public.logloom_stored as (sealed_bytes bigint, hot_bytes bigint);

comment on type public.logloom_stored is
  'What a tenant''s records take on disk: sealed_bytes in compressed blocks, hot_bytes as rows '
  'with their indexes, that one about.';

create type public.logloom_tenant_settings as (
  tenant_id text,
  pipeline_config public.logloom_pipeline_config,
  notification_preferences public.logloom_notification_preferences,
  stored public.logloom_stored
);

comment on type public.logloom_tenant_settings is
  'The settings in force: what was set, else the defaults.';
