-- Bits that tell of a value whether it may be one of p_values, eight a byte, the first one highest.
create function logloom_private.value_filter(p_values text[])
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  -- One value in forty of those that are not there looks as if it were.
  v_size constant integer := 8 * ((12 * cardinality(p_values) + 7) / 8);
begin
  -- The bits as they lie, after their number.
  return substring(
    varbit_send(logloom_private.position_bits(
      array(
        -- As filter_may_hold has them of each.
        select distinct b.place
        from (
          select unnest(array[
            (h.hash & 2147483647) % v_size + 1, (h.hash >> 32 & 2147483647) % v_size + 1
          ])::integer as place
          from (
            select hashtextextended(v.value, 0) as hash
            from (select unnest(p_values) as value) v
            where v.value is not null
          ) h
        ) b
        order by b.place
      ),
      v_size
    ))
    from 5
  );
end;
$$;
