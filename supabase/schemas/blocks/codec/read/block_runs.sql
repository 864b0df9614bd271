-- The number of the run at positions of a block, all where null.
create function logloom_private.block_runs(p_block logloom_private.blocks, p_positions integer[])
returns integer[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
as $$
declare
  v_firsts integer[];
begin
  if p_positions is null then
    return array(
      select r.run
      from (
        select u.n::integer as run, generate_series(1, u.records)
        from unnest(p_block.run_records) with ordinality u (records, n)
      ) r
    );
  end if;
  v_firsts := array(
    select sum(u.records) over (order by u.n) - u.records + 1
    from unnest(p_block.run_records) with ordinality u (records, n)
    order by u.n
  );
  return array(select width_bucket(p, v_firsts) from unnest(p_positions) p);
end;
$$;
