-- What runs tell of the records at positions of a block, all where null, as far as p_reads asks for
-- it: service, level, and for msg.exists an empty text where there is a message.
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
