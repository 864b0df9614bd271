-- Returns the runs of a block that have records at p_bits between p_first and p_last. first, last:
-- the part of the run between p_first and p_last. events: how many records of this part are at
-- p_bits. is_whole: true if all records of the part are at p_bits.
create function logloom_private.found_runs(
  p_run_records integer[],
  p_bits varbit,
  p_first integer,
  p_last integer
)
returns table (run integer, first integer, last integer, events bigint, is_whole boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
rows 20
as $$
begin
  return query
  select f.run, f.first, f.last, f.events, f.events = f.last - f.first + 1
  from (
    select r.*, bit_count(substring(p_bits from r.first for r.last - r.first + 1)) as events
    from (
      select
        l.n::integer as run,
        greatest((sum(l.records) over w - l.records + 1)::integer, p_first) as first,
        least((sum(l.records) over w)::integer, p_last) as last
      from unnest(p_run_records) with ordinality l (records, n)
      window w as (order by l.n rows unbounded preceding)
    ) r
    where r.first <= r.last
  ) f
  where f.events > 0;
end;
$$;

-- Gives the result of grouped_codes for p_numbers (the values from position p_first to p_last),
-- grouped only by run. Each run takes its slice of the numbers: nothing has to be grouped.
create function logloom_private.run_numbers(
  p_run_records integer[],
  p_bits varbit,
  p_first integer,
  p_last integer,
  p_numbers anyarray,
  p_exact boolean,
  p_doubles boolean
)
returns table (
  run integer,
  events bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
rows 20
as $$
declare
  v_is_numeric constant boolean := pg_typeof(p_numbers) = 'numeric[]'::regtype;
begin
  return query
  select
    f.run, t.events, t.total, t.minimum, t.maximum,
    case
      when not p_doubles then null
      when v_is_numeric then array(
        select logloom_private.finite_double(u.number::numeric)
        from (select unnest(f.numbers) as number) u
      )
      else f.numbers::double precision[]
    end
  from (
    -- "|| '{}'" makes one array in memory, and every run takes its slice of this array.
    select
      s.run, case
        when s.is_whole then a.numbers[s.first - p_first + 1:s.last - p_first + 1]
        else array(
          select u.number
          from (
            select
              generate_series(s.first, s.last) as n,
              unnest(a.numbers[s.first - p_first + 1:s.last - p_first + 1]) as number
          ) u
          where get_bit(p_bits, u.n - 1) = 1
        )
      end as numbers
    from (select p_numbers || '{}' as numbers offset 0) a
    cross join logloom_private.found_runs(p_run_records, p_bits, p_first, p_last) s
    offset 0
  ) f
  cross join lateral (
    select
      count(u.number) as events, sum(u.number)::numeric as total,
      min(u.number)::numeric as minimum, max(u.number)::numeric as maximum
    from (select unnest(f.numbers) as number) u
    where p_exact
  ) t;
end;
$$;
