-- Whether one of p_values may be among those that the filter was made of: both of its bits are set.
create function logloom_private.filter_may_hold(p_filter bytea, p_values text[])
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_size constant integer := 8 * octet_length(p_filter);
  v_value text;
  v_hash bigint;
  v_place integer;
  v_is_set boolean;
begin
  foreach v_value in array p_values loop
    v_hash := hashtextextended(v_value, 0);
    for v_part in 0..1 loop
      v_place := (v_hash >> 32 * v_part & 2147483647) % v_size;
      -- One byte of a stored filter is read, not all of it.
      v_is_set := get_byte(substring(p_filter from v_place / 8 + 1 for 1), 0)
        >> 7 - v_place % 8 & 1 = 1;
      -- Most values are known not to be there by the first one.
      exit when not v_is_set;
    end loop;
    if v_is_set then
      return true;
    end if;
  end loop;
  return false;
end;
$$;
