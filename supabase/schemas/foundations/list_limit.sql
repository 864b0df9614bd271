-- The page size of a list: p_limit, or the default where it is null. PT400 when out of bounds, by
-- p_error where that is not the error of all lists.
create function logloom_private.list_limit(p_limit integer, p_error text default null)
returns integer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the API roles do not read logloom_private.settings
declare
  v_max integer;
  v_default integer;
begin
  select s.list_limit_max, s.list_limit_default into v_max, v_default
    from logloom_private.settings s;
  if p_limit < 1 or p_limit > v_max then
    perform logloom_private.refuse(
      coalesce(p_error, 'parameters.list_limit_is_out_of_range'), v_max::text
    );
  end if;
  return coalesce(p_limit, v_default);
end;
$$;
