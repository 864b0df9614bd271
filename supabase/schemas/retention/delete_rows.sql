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

-- Deletes the next expired records of one tenant's day, if the day has too many records for one
-- step. Returns how many; 0 if none is left.
create function logloom_private.delete_expired(p_tenant_id text, p_day date, p_today date)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rows logloom_private.sql_source;
  v_end logloom_private.log_key;
  v_deleted integer;
begin
  if p_day >= logloom_private.first_kept_day(p_tenant_id, p_today)
    and not exists (select from logloom_private.storage s where s.limit_day = p_day)
  then
    return 0;
  end if;
  -- Passes constants: only one partition is read.
  v_rows := logloom_private.tenant_rows_sql(
    p_tenant_id, logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1), 'true'
  );
  v_end := logloom_private.rows_end(v_rows);
  if v_end.ts is null then
    return 0;
  end if;
  v_deleted := logloom_private.delete_to_end(v_rows, v_end, 'true');
  perform logloom_private.note_deletions(array[p_tenant_id], array[v_deleted], 0, p_today);
  return v_deleted;
end;
$$;
