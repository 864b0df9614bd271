-- The two places, from 1 on, at which a filter of p_size bits has a value.
create function logloom_private.filter_places(p_value text, p_size integer)
returns integer[]
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hash constant bigint := hashtextextended(p_value, 0);
begin
  return array[
    (v_hash & 2147483647) % p_size + 1, (v_hash >> 32 & 2147483647) % p_size + 1
  ];
end;
$$;

-- One byte of a stored filter is read, not all of it.
create function logloom_private.filter_has(p_filter bytea, p_place integer)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (get_byte(substring(p_filter from (p_place + 7) / 8 for 1), 0) >> (7 - (p_place - 1) % 8))
    % 2 = 1;
end;
$$;

-- Whether one of p_values may be among those that the filter was made of.
create function logloom_private.filter_may_hold(p_filter bytea, p_values text[])
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_size constant integer := 8 * octet_length(p_filter);
  v_value text;
  v_places integer[];
begin
  foreach v_value in array p_values loop
    v_places := logloom_private.filter_places(v_value, v_size);
    -- Most values are known not to be there by the first one.
    if logloom_private.filter_has(p_filter, v_places[1])
      and logloom_private.filter_has(p_filter, v_places[2])
    then
      return true;
    end if;
  end loop;
  return false;
end;
$$;
