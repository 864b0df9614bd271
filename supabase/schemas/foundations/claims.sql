-- The verified claims of the request's token as PostgREST set them; null outside a request.
create function logloom_private.claims()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return nullif(current_setting('request.jwt.claims', true), '')::jsonb;
-- NUL, or half a surrogate pair: such claims name nobody.
exception when data_exception then
  return null;
end;
$$;
