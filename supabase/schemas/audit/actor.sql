-- Who acts: the user, else the API role, else the login.
create function logloom_private.actor()
returns text
language sql
stable
return coalesce(
  logloom_private.current_user_id(),
  nullif(current_setting('role', true), 'none'),
  session_user::text
);
