create schema logloom;
create schema logloom_private;

comment on schema logloom is 'Tables that tenants own, each behind row-level security.';
comment on schema logloom_private is
  'Queue, writer, settings, compiler, health. Not exposed by PostgREST.';

revoke all on schema logloom from public;
grant usage on schema logloom to anon, authenticated, service_role, supabase_auth_admin;
-- The pre-request check runs as the role of the request, possibly a role of the project's own. So
-- every role needs this schema. PUBLIC may only call the check in it.
grant usage on schema logloom_private to public;
