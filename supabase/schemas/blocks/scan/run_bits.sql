-- A leaf over service or level: a bit a record.
create function logloom_private.run_bits(
  p_block logloom_private.blocks,
  p_leaf jsonb
)
returns varbit
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_flags boolean[];
begin
  execute format(
    $query$
      select array_agg((%s) is true order by l.n)
      from unnest($1, $2) with ordinality l (service, level, n)
    $query$,
    logloom_private.query_sql(p_leaf, 'l')
  )
  into v_flags
  using p_block.run_services, p_block.run_levels;
  return logloom_private.bits_of_runs(v_flags, p_block.run_records);
end;
$$;
