create type public.logloom_log_tenant as (
  tenant_id text,
  role text,
  is_current boolean
);

comment on type public.logloom_log_tenant is
  'A tenant that the caller belongs to. is_current: the one that the token names.';
