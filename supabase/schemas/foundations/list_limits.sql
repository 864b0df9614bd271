create function logloom_private.list_limit_max()
returns integer
language sql
immutable
return 1000;

-- Returns the page size of a list: p_limit, or 100 if p_limit is null. Raises PT400 if p_limit is
-- out of range. p_error: the name of another error to raise.
create function logloom_private.list_limit(p_limit integer, p_error text default null)
returns integer
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role raises an error itself
begin
  if p_limit not between 1 and logloom_private.list_limit_max() then
    perform logloom_private.refuse(
      coalesce(p_error, 'parameters.list_limit_is_out_of_range'),
      logloom_private.list_limit_max()::text
    );
  end if;
  return coalesce(p_limit, 100);
end;
$$;

-- The size of a page in bytes. The page ends with the item that reaches this size.
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

-- Returns where a page begins: p_at, the time of the item p_after. Null if p_after is null. Raises
-- PT400 if the list has no item p_after. p_what names the items of the list, p_id their id.
create function logloom_private.page_place(
  p_after text,
  p_what text,
  p_id text,
  p_at timestamptz
)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_after is not null and p_at is null then
    perform logloom_private.refuse('parameters.no_such_place', p_what, p_id);
  end if;
  return p_at;
end;
$$;
