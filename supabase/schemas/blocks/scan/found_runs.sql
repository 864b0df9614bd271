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
