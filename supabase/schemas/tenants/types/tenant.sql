create type public.logloom_plan_features as (
  saved_searches boolean,
  max_saved_searches integer,
  alerts boolean,
  max_alerts integer
);

comment on type public.logloom_plan_features is 'What a plan includes, and how many.';

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
  'Whether the plan includes a feature, how many of it, and how many the tenant has.';
