-- Whether the request runs as service_role, also when asked from within a definer function.
create function logloom_private.is_service_role()
returns boolean
language sql
stable
return current_setting('role', true) = 'service_role';
