-- The OAuth client that the request's token was issued to: the claim client_id. Null where a user
-- signed in without one.
create function logloom_private.current_client_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.claims() ->> 'client_id';
end;
$$;
