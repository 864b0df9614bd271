-- Takes days of which the tenant has no rows left out of log_days: no search opens them any more.
create function logloom_private.leave_sealed_days(p_tenant_id text, p_days date[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_has_rows boolean;
begin
  foreach v_day in array p_days loop
    for v_attempt in 1..2 loop
      execute format(
        'select exists (select from logloom.logs l where l.tenant_id = %L '
          || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
        p_tenant_id, logloom_private.day_start(v_day), logloom_private.day_start(v_day + 1)
      )
      into v_has_rows;
      exit when v_has_rows;
      -- Asked again without the writer, which notes a day only where it is not noted yet.
      perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
    end loop;
    if not v_has_rows then
      delete from logloom_private.log_days d where d.tenant_id = p_tenant_id and d.day = v_day;
    end if;
  end loop;
end;
$$;
