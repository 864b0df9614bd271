-- Returns the services and levels of the records at p_positions, or of all records if it is null.
-- If p_reads has msg.exists, the message is an empty text for each record that has one. All are
-- null if p_reads names none of these fields.
create function logloom_private.run_texts(
  p_block logloom_private.blocks,
  p_positions integer[],
  p_reads text[],
  out services text[],
  out levels text[],
  out messages text[]
)
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_runs integer[];
begin
  if p_reads is null or p_reads && array['service', 'level', 'msg.exists'] then
    v_runs := logloom_private.block_runs(p_block, p_positions);
    services := logloom_private.elements_at(p_block.run_services, v_runs);
    levels := logloom_private.elements_at(p_block.run_levels, v_runs);
    if 'msg.exists' = any(p_reads) then
      messages := logloom_private.elements_at(
        array(select case when t > 0 then '' end from unnest(p_block.run_templates) t), v_runs
      );
    end if;
  end if;
end;
$$;

-- Returns the run number of each record at p_positions of a block (null: of all records).
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
