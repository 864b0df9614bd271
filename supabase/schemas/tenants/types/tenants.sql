create type public.logloom_log_secret_scope as (
  tenant_id text,
  customer text
);

comment on type public.logloom_log_secret_scope is
  'The tenant whose secrets the caller may seal, and the customer of a portal session.';

create type public.logloom_member as (
  user_id text,
  role text,
  email text,
  created_at timestamptz,
  view_id uuid
);

comment on type public.logloom_member is
  'A user who belongs to a tenant. role: viewer, member, admin or owner. email: from Supabase '
  'Auth, or else as given when the member was added. Null if unknown. view_id: the view that a '
  'viewer reads in.';

create type public.logloom_log_tenant as (
  tenant_id text,
  role text,
  is_current boolean
);

comment on type public.logloom_log_tenant is
  'A tenant that the caller belongs to. is_current: whether the caller''s token names this tenant.';

create type public.logloom_plan_features as (
  saved_searches boolean,
  max_saved_searches integer,
  alerts boolean,
  max_alerts integer
);

comment on type public.logloom_plan_features is
  'Whether a plan has saved searches and alerts, and how many.';

create type public.logloom_tenant as (
  tenant_id text,
  plan_id text,
  plan_name text,
  created_at timestamptz,
  monthly_events_limit bigint,
  monthly_bytes_limit bigint,
  features public.logloom_plan_features
);

comment on type public.logloom_tenant is 'A tenant with its plan. Limits are per UTC month.';

create type public.logloom_plan_feature as (
  enabled boolean,
  "maxCount" integer,
  "currentCount" integer
);

comment on type public.logloom_plan_feature is
  'Whether the plan includes a feature, how many it allows, and how many the tenant has.';

create type public.logloom_pipeline_config as (retention_days integer, compression boolean);

comment on type public.logloom_pipeline_config is
  'How long records are kept, and whether they are compressed.';

create type public.logloom_notification_preferences as (email_enabled boolean,
  webhook_enabled boolean);

comment on type public.logloom_notification_preferences is 'Which channels alerts may use.';

create type public.logloom_stored as (sealed_bytes bigint, hot_bytes bigint);

comment on type public.logloom_stored is
  'The disk space of a tenant''s records: sealed_bytes in compressed blocks, hot_bytes as rows '
  'with indexes (estimated).';

create type public.logloom_retention_rule as (level text, service text, days integer);

comment on type public.logloom_retention_rule is
  'How many days records of exactly this level and service (null: any) are kept instead of '
  'retention_days. The first rule that matches decides.';

create type public.logloom_tenant_settings as (
  tenant_id text,
  pipeline_config public.logloom_pipeline_config,
  notification_preferences public.logloom_notification_preferences,
  stored public.logloom_stored,
  retention_rules public.logloom_retention_rule[]
);

comment on type public.logloom_tenant_settings is
  'The effective settings of a tenant: its own values or the defaults.';
