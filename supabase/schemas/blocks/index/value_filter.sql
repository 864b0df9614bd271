-- Returns the most selective leaf that every record of the result must match, or null. Such a leaf
-- tests a field with many values for an exact value. Fields with a Bloom filter come first (a
-- request id above all), env comes last.
create function logloom_private.needed_leaf(p_tree jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select i.leaf
    from jsonb_array_elements(
      case p_tree ->> 'type' when 'and' then p_tree -> 'items' else jsonb_build_array(p_tree) end
    ) with ordinality i (leaf, n)
    join unnest(logloom_private.record_fields()) with ordinality f on f.name = i.leaf ->> 'field'
    where f.block = 'column' and i.leaf ->> 'test' = 'equal'
      and not (i.leaf -> 'folds_case')::boolean
    order by f.bloom is not true, f.name = 'env', f.ordinality, i.n
    limit 1
  );
end;
$$;

-- Returns a Bloom filter over values: two bits for each value. The highest bit of a byte is its
-- first.
create function logloom_private.value_filter(p_values text[])
returns bytea
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
set work_mem = '32MB'
as $$
declare
  -- About one in forty absent values passes the filter.
  v_size constant integer := 8 * ((12 * cardinality(p_values) + 7) / 8);
begin
  -- The binary form of a varbit begins with four bytes of its length.
  return substring(
    varbit_send(logloom_private.position_bits(
      array(
        -- filter_may_hold computes the same two places.
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

-- True if the filter may contain one of p_values: both bits of the value are set.
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
      -- Reads one byte of the stored filter, not all of it.
      v_is_set := get_byte(substring(p_filter from v_place / 8 + 1 for 1), 0)
        >> 7 - v_place % 8 & 1 = 1;
      -- The first bit already excludes most values.
      exit when not v_is_set;
    end loop;
    if v_is_set then
      return true;
    end if;
  end loop;
  return false;
end;
$$;
