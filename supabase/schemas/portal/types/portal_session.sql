create type public.logloom_portal_session as (
  session_id uuid,
  tenant_id text,
  label text,
  view_id uuid,
  query_dsl text,
  origins text[],
  status text,
  created_by text,
  created_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  first_used_at timestamptz,
  last_used_at timestamptz,
  customer text,
  limits jsonb,
  parts text[],
  variables jsonb
);

comment on type public.logloom_portal_session is
  'A portal session in a list. status: active, revoked or expired.';

create type public.logloom_created_portal_session as (
  session_id uuid,
  token text,
  url text,
  expires_at timestamptz
);

comment on type public.logloom_created_portal_session is
  'A new portal session. token, or url if p_link, is shown only once; the other is null.';

create type public.logloom_opened_portal_session as (
  session_id uuid,
  token text,
  expires_at timestamptz
);

comment on type public.logloom_opened_portal_session is
  'The session that a link opened. token is shown only once.';
