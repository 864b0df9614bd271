-- The last of the next rows that a step of a deletion looks at, deletion_step_records at most, from
-- the least on; null where there is none. p_rows: SQL from "from" on.
create function logloom_private.rows_end(p_rows text)
returns logloom_private.log_key
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end logloom_private.log_key;
begin
  execute format(
    'select p.ts, p.id from (select l.ts, l.id %s order by l.ts, l.id limit %s) p '
      || 'order by p.ts desc, p.id desc limit 1',
    p_rows, (select s.deletion_step_records from logloom_private.settings s)
  )
  into v_end;
  return v_end;
end;
$$;
