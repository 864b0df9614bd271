create type public.logloom_portal_thing as (
  customer text,
  kind text,
  thing_id uuid,
  name text,
  state text,
  maker text,
  created_at timestamptz
);

comment on type public.logloom_portal_thing is
  'A log stream (kind stream) or alert rule (kind rule) that a customer made in a portal session. '
  'state of a stream: its status, or held; of a rule: enabled, disabled, paused or held. held: an '
  'admin disabled it, and only an admin can enable it again. maker: the user with whose rights it '
  'reads; null: the project''s secret key.';

create type public.logloom_revoked_customer as (
  sessions integer,
  streams integer,
  rules integer
);

comment on type public.logloom_revoked_customer is
  'How many sessions of a customer were revoked, and how many of their log streams and alert rules '
  'were deleted.';
