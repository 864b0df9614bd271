create schema logloom;
create schema logloom_private;

comment on schema logloom is 'Tables that tenants own, each behind row-level security.';
comment on schema logloom_private is
  'Queue, writer, settings, compiler, health. Not exposed by PostgREST.';

revoke all on schema logloom from public;
grant usage on schema logloom to authenticated, service_role, supabase_auth_admin;
-- The pre-request check runs as the role of the request, and a project may have roles of its own:
-- each must reach its schema, for whatever it asks. PUBLIC may call the check there, nothing else.
grant usage on schema logloom_private to public;
