create type public.logloom_member as (
  user_id text,
  role text,
  email text,
  created_at timestamptz,
  view_id uuid
);

comment on type public.logloom_member is
  'A user who belongs to a tenant. role: viewer, member, admin or owner. email: of Supabase '
  'Auth, else what was given when the member was added; null where neither is known. view_id: what '
  'a viewer is bound to.';
