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

grant execute on function logloom_private.require_parameter(text, boolean)
to authenticated, service_role;

-- The text without white space at its ends.
create function logloom_private.trim_space(p_text text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return regexp_replace(p_text, '^[[:space:]]+|[[:space:]]+$', '', 'g');
end;
$$;

grant execute on function logloom_private.trim_space(text) to authenticated, service_role;

-- A list ends with the item that brings it to so many bytes.
create function logloom_private.page_bytes()
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

grant execute on function logloom_private.page_bytes() to authenticated, service_role;

-- The page size of a list: p_limit, or the default where it is null. PT400 when out of bounds.
create function logloom_private.list_limit(p_limit integer)
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
    perform logloom_private.refuse('parameters.list_limit_is_out_of_range', v_max::text);
  end if;
  return coalesce(p_limit, v_default);
end;
$$;

grant execute on function logloom_private.list_limit(integer)
to authenticated, service_role;

-- Where the page after an item begins: the item's time. PT400 where the list has no such item,
-- p_what being what the list holds and p_id the name of its id.
create function logloom_private.page_place(p_at timestamptz, p_what text, p_id text)
returns timestamptz
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_at is null then
    perform logloom_private.refuse('parameters.no_such_place', p_what, p_id);
  end if;
  return p_at;
end;
$$;

grant execute on function logloom_private.page_place(timestamptz, text, text)
to authenticated, service_role;

-- The instant that a parameter names: ISO 8601 (UTC where it names no zone), or now with a shift,
-- as in a query (query_time). Null stays null. PT400 for anything else.
create function logloom_private.time_parameter(p_name text, p_text text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_text constant text := logloom_private.trim_space(p_text);
  v_shift constant text[] := regexp_match(v_text, '^now([+-][0-9]{1,10})([smhdw])$');
  v_seconds numeric;
begin
  if v_text is null then
    return null;
  elsif v_text = 'now' then
    return now();
  elsif v_shift is not null then
    v_seconds := v_shift[1]::numeric * case v_shift[2]
      when 'm' then 60 when 'h' then 3600 when 'd' then 86400 when 'w' then 604800 else 1 end;
    if abs(v_seconds) <= 3155760000 then
      return now() + make_interval(secs => v_seconds);
    end if;
  elsif v_text ~ '^[0-9-]' and pg_input_is_valid(v_text, 'timestamptz') then
    return v_text::timestamptz;
  end if;
  perform logloom_private.refuse('parameters.not_a_time', p_name);
  return null;
end;
$$;

grant execute on function logloom_private.time_parameter(text, text)
to authenticated, service_role;
