-- Returns the last row of a deletion's next step; null if there is no row. The step begins at the
-- first row and has at most deletion_step_records.
create function logloom_private.rows_end(p_rows logloom_private.sql_source)
returns logloom_private.log_key
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_end logloom_private.log_key;
begin
  p_rows.order_sql := 'l.ts, l.id';
  p_rows.max_rows := (select s.deletion_step_records from logloom_private.settings s);
  execute 'select p.ts, p.id from (select l.ts, l.id ' || logloom_private.source_sql(p_rows)
    || ') p order by p.ts desc, p.id desc limit 1'
  into v_end;
  return v_end;
end;
$$;

-- Narrows a source to the rows that pass a filter, up to the end of the step.
create function logloom_private.rows_to_end(
  p_rows logloom_private.sql_source,
  p_end logloom_private.log_key,
  p_filter text
)
returns logloom_private.sql_source
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  p_rows.where_sql := format(
    '%s and l.ts <= %L::timestamptz and (l.ts, l.id) <= (%2$L::timestamptz, %L::uuid) and (%s)',
    p_rows.where_sql, p_end.ts, p_end.id, p_filter
  );
  return p_rows;
end;
$$;

-- Deletes the rows that pass a filter, up to the end of the step. Returns how many.
create function logloom_private.delete_to_end(
  p_rows logloom_private.sql_source,
  p_end logloom_private.log_key,
  p_filter text
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deleted integer;
begin
  execute logloom_private.removed_records_sql(
    'delete ' || logloom_private.source_sql(logloom_private.rows_to_end(p_rows, p_end, p_filter))
  )
  into v_deleted;
  return v_deleted;
end;
$$;
