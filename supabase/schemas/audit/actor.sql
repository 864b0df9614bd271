-- Who acts: the user, else the API role, else the login.
create function logloom_private.actor()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    logloom_private.current_user_id(),
    nullif(current_setting('role', true), 'none'),
    session_user::text
  );
end;
$$;
