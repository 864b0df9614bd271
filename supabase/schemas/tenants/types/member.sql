create type public.logloom_member as (
  user_id text,
  role text,
  email text,
  created_at timestamptz
);

comment on type public.logloom_member is
  'A user who belongs to a tenant. role: member, admin or owner. email: of Supabase Auth, else '
  'what was given when the member was added; null where neither is known.';
