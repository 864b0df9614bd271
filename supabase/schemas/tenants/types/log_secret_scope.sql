create type public.logloom_log_secret_scope as (
  tenant_id text
);

comment on type public.logloom_log_secret_scope is
  'For which tenant the edge functions may seal secrets of the caller.';
