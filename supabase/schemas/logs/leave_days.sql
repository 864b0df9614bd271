-- Takes days of which the tenants have no rows left out of log_days: no search opens them any more.
create function logloom_private.leave_days(p_tenant_ids text[], p_days date[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_left text;
  v_tenants bigint;
begin
  foreach v_day in array p_days loop
    v_left := format(
      'from logloom_private.log_days d where d.day = %L and d.tenant_id = any($1) '
        || 'and not exists (select from logloom.logs l where l.tenant_id = d.tenant_id '
        || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
      v_day, logloom_private.day_start(v_day), logloom_private.day_start(v_day + 1)
    );
    execute 'select count(*) ' || v_left into v_tenants using p_tenant_ids;
    if v_tenants > 0 then
      -- Without the writer, which notes a day only where it is not noted yet.
      perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
      execute 'delete ' || v_left using p_tenant_ids;
    end if;
  end loop;
end;
$$;
