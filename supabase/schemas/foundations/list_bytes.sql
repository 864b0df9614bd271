-- A list ends with the item that brings it to so many bytes.
create function logloom_private.list_bytes()
returns integer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles do not read logloom_private.settings
begin
  return (select s.max_page_bytes from logloom_private.settings s);
end;
$$;
