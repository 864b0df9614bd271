-- The value of each record of a block, from the value of each run.
create function logloom_private.run_texts(
  p_block logloom_private.blocks,
  p_values text[]
)
returns text[]
language plpgsql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_records constant integer[] := p_block.run_records;
  v_texts text[] := '{}';
begin
  if cardinality(v_records) <= 200 then
    for v_run in 1..cardinality(v_records) loop
      v_texts := v_texts || array_fill(p_values[v_run], v_records[v_run:v_run]);
    end loop;
    return v_texts;
  end if;
  -- Each of those steps copies what it adds to.
  return array(
    select s.value
    from (
      select x.value, generate_series(1, x.records)
      from unnest(p_values, v_records) x (value, records)
    ) s
  );
end;
$$;
