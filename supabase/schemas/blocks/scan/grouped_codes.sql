-- Counts a block's records at p_bits by the values of p_columns, which all have dictionaries. With
-- p_by_run, each run has counts of its own.
--   codes      places in each dictionary; null for a record without a value
--   run        the number of the run
--   p_numbers  the values from position p_first to p_last. If given, only records with a number
--              count; p_exact adds total, minimum and maximum, p_doubles adds doubles.
create function logloom_private.grouped_codes(
  p_run_records integer[],
  p_bits varbit,
  p_columns logloom_private.block_columns[],
  p_by_run boolean,
  p_first integer,
  p_last integer,
  p_numbers anyarray,
  p_exact boolean,
  p_doubles boolean
)
returns table (
  run integer,
  codes integer[],
  events bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set work_mem = '16MB'
as $$
declare
  v_has_numbers constant boolean := p_numbers is not null;
  v_column logloom_private.block_columns;
  v_arrays text := '';
  v_values text := '';
  v_codes text := '';
  v_by text := '1';
begin
  for n in 1..cardinality(p_columns) loop
    v_column := p_columns[n];
    v_arrays := v_arrays || case
      when v_column.codes is not null then format('($4[%1$s]).codes || ''{}'' as c%1$s, ', n)
      when v_column.wide_codes is not null
        then format('($4[%1$s]).wide_codes || ''{}'' as c%1$s, ', n)
      else format(
        'array_fill(1::smallint, array[%s]) as c%s, ', v_column.last - v_column.first + 1, n
      )
    end;
    v_values := v_values || format(
      ', unnest(array_fill(null::%2$s, array[greatest(least(%3$s, s.last + 1) - s.first, 0)]) '
        || '|| a.c%1$s[s.first - %3$s + 1:s.last - %3$s + 1]) as c%1$s',
      n, case when v_column.codes is not null then '"char"' else 'smallint' end, v_column.first
    );
    v_codes := v_codes || case when n > 1 then ', ' else '' end
      || format('u.c%s::integer', n)
      || case when v_column.codes is not null then ' + 129' else '' end;
    v_by := v_by || format(', u.c%s', n);
  end loop;
  -- The records of a run are adjacent. Runs without a record at p_bits are skipped. "|| '{}'" makes
  -- one array in memory, and every run takes its slice of this array.
  return query execute format(
    $query$
      select %1$s, array[%2$s]::integer[], count(*), %3$s
      from (
        select s.run, generate_series(s.first, s.last) as n%4$s
        from (select %5$s $5 || '{}' as numbers offset 0) a
        cross join logloom_private.found_runs($6, $1, $2, $3) s
      ) u
      where get_bit($1, u.n - 1) = 1 %6$s
      group by %7$s
    $query$,
    case when p_by_run then 'u.run' else 'null::integer' end,
    v_codes,
    case when v_has_numbers and p_exact
      then 'sum(u.number)::numeric, min(u.number)::numeric, max(u.number)::numeric'
      else 'null::numeric, null::numeric, null::numeric' end
      || case
        when not v_has_numbers or not p_doubles then ', null::double precision[]'
        when pg_typeof(p_numbers) = 'numeric[]'::regtype
          then ', array_agg(logloom_private.finite_double(u.number))'
        else ', array_agg(u.number::double precision)'
      end,
    v_values || case when v_has_numbers
      then ', unnest(a.numbers[s.first - $2 + 1:s.last - $2 + 1]) as number' else '' end,
    v_arrays,
    case when v_has_numbers then 'and u.number is not null' else '' end,
    v_by
  )
  using p_bits, p_first, p_last, p_columns, p_numbers, p_run_records;
end;
$$;
