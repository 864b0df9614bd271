-- The positions of the bits that are set, 1-based, ascending.
create function logloom_private.bit_positions(p_bits varbit)
returns integer[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gaps text[];
begin
  if bit_count(p_bits) = 0 then
    return '{}';
  elsif bit_count(p_bits) * 8 > length(p_bits) then
    return array(
      select i.position
      from generate_series(1, length(p_bits)) with ordinality i (position, n)
      where get_bit(p_bits, i.position - 1) = 1
      order by i.n
    );
  end if;
  -- Where few are set, the gaps between them say where.
  v_gaps := string_to_array(p_bits::text, '1');
  return array(
    select (sum(octet_length(g.gap) + 1) over (order by g.n rows unbounded preceding))::integer
    from unnest(v_gaps[:cardinality(v_gaps) - 1]) with ordinality g (gap, n)
    order by g.n
  );
end;
$$;
