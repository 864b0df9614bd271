-- The user of the request: the claim sub.
create function logloom_private.current_user_id()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.claims() ->> 'sub';
end;
$$;
