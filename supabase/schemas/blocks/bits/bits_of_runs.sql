-- The bits of all records, from a flag for each run.
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
