-- PT400 when a required parameter is missing. Parameters default to null so that this text answers,
-- not PostgREST's 404.
create function logloom_private.require_parameter(p_name text, p_is_missing boolean)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_is_missing then
    perform logloom_private.refuse('parameters.missing', p_name);
  end if;
end;
$$;
