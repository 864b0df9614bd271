-- Reads the rows of logloom.logs that p_sql selects, in the order of ts and id. p_rows is the
-- parameter $1 of p_sql.
create function logloom_private.read_records(p_sql text, p_rows logloom.logs[] default null)
returns logloom_private.record_arrays
language plpgsql
set search_path = pg_catalog, pg_temp
set work_mem = '48MB'
as $$
declare
  v_records logloom_private.record_arrays;
begin
  execute format(
    $query$
      select
        array_agg(r.ts), array_agg(r.received_at), array_agg(r.write_seq), array_agg(r.id),
        array_agg(r.service), array_agg(r.level), array_agg(r.msg), array_agg(r.attrs),
        array[%s]
      from (select s.* from (%s) s order by s.ts, s.id) r
    $query$,
    (
      select string_agg(
        format('row(array_agg(r.%I::text))::logloom_private.column_values', f.name), ', '
        order by f.n
      )
      from unnest(logloom_private.column_fields()) with ordinality f (name, n)
    ),
    p_sql
  )
  into v_records
  using p_rows;
  return v_records;
end;
$$;
