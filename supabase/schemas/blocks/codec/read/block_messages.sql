-- The messages of all records of a block.
create function logloom_private.block_messages(p_block logloom_private.blocks)
returns text[]
language plpgsql
stable
parallel safe
set search_path = pg_catalog, pg_temp
set plan_cache_mode = 'force_generic_plan'
set work_mem = '32MB'
as $$
declare
  -- Each run's templates end with the separator; a run without messages has none.
  v_templates constant text[] := string_to_array(
    array_to_string(p_block.templates, ''), p_block.separator
  );
  v_texts text[];
begin
  v_texts := logloom_private.fill_templates(
    v_templates[:cardinality(v_templates) - 1], p_block.template_records,
    -- "|| ''" reads what is stored once, not at each use.
    p_block.digits || ''::bytea, p_block.separator
  );
  if array_position(p_block.run_templates, 0) is null then
    return v_texts;
  end if;
  -- Runs without messages stand between the others.
  return array(
    select case when s.templates > 0 then v_texts[s.before + i] end
    from (
      select
        x.n, x.records, x.templates,
        sum(case when x.templates > 0 then x.records else 0 end) over (order by x.n)
          - case when x.templates > 0 then x.records else 0 end as before
      from unnest(p_block.run_records, p_block.run_templates)
        with ordinality x (records, templates, n)
    ) s, generate_series(1, s.records) i
    order by s.n, i
  );
end;
$$;
