-- Which records of a block a query finds, as bit strings over its positions.
--
-- A node of the query's tree answers with two: surely and perhaps. What is perhaps and not surely
-- is read and put to the row filter, so that a leaf that this does not know is right, only slow.

-- As many zero bits.
create function logloom_private.no_bits(p_records integer)
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A part of what is there already is copied, and takes a tenth of the time that making it takes.
  return case
    when p_records <= 65536 then substring(b'0'::bit(65536)::varbit from 1 for p_records)
    else repeat('0', p_records)::varbit
  end;
end;
$$;

-- Runs of equal bits.
-- Bits of which those of each run are set, or not.
create function logloom_private.bits_of_runs(p_flags boolean[], p_records integer[])
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bits varbit := '';
  v_run varbit;
begin
  for v_at in 1..cardinality(p_records) loop
    v_run := logloom_private.no_bits(p_records[v_at]);
    v_bits := v_bits || case when p_flags[v_at] then ~v_run else v_run end;
  end loop;
  return v_bits;
end;
$$;

-- Whether no bit is set.
create function logloom_private.is_zero(p_bits varbit)
returns boolean
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return bit_count(p_bits) = 0;
end;
$$;

-- The positions of the bits that are set, ascending.
-- The places of the bits that are set, 1-based, ascending.
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

-- Bits of all positions from those of a column's.
-- Bits from position p_first on as bits of all records; p_outside: of those beyond.
create function logloom_private.widen_bits(
  p_bits text,
  p_first integer,
  p_records integer,
  p_outside boolean
)
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_fill constant text := case when p_outside then '1' else '0' end;
begin
  return (
    repeat(v_fill, p_first - 1) || p_bits
      || repeat(v_fill, p_records - p_first + 1 - length(p_bits))
  )::varbit;
end;
$$;

-- A bit string with the bits at ascending positions set.
-- As many bits, those at the ascending positions set.
create function logloom_private.position_bits(p_positions integer[], p_records integer)
returns varbit
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(cardinality(p_positions), 0) = 0 then
    return logloom_private.no_bits(p_records);
  end if;
  return (
    (
      select string_agg(repeat('0', p.position - p.before - 1) || '1', '' order by p.position)
      from (
        select x.position, lag(x.position, 1, 0) over (order by x.position) as before
        from unnest(p_positions) x (position)
      ) p
    ) || repeat('0', p_records - p_positions[cardinality(p_positions)])
  )::varbit;
end;
$$;
