-- Deletes some expired records of one tenant's day, if they are too many for one step. Returns how
-- many; 0 if none is left.
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
  -- Passes constants, so that only one partition is read.
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
