create type public.logloom_api_key as (
  key_id uuid,
  tenant_id text,
  name text,
  key_prefix text,
  scopes text[],
  status text,
  created_at timestamptz,
  last_used_at timestamptz,
  expires_at timestamptz,
  revoked_at timestamptz,
  view_id uuid
);

comment on type public.logloom_api_key is
  'An API key in lists. status: active, revoked or expired. view_id: the view that it reads in; '
  'null if none.';

create type public.logloom_created_api_key as (
  key_id uuid,
  tenant_id text,
  name text,
  key_prefix text,
  key_value text,
  scopes text[],
  status text,
  created_at timestamptz,
  expires_at timestamptz,
  view_id uuid
);

comment on type public.logloom_created_api_key is 'A new API key. key_value is shown only now.';
