-- The canary's own tenant.
create function logloom_private.canary_tenant()
returns text
language sql
immutable
return 'logloom-canary';
