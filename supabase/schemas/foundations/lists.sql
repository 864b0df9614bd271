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

-- Where the page after an item begins: the item's time, null without p_after. PT400 where the list
-- has no such item, p_what being what the list holds and p_id the name of its id.
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
