-- Takes a day of which the tenants have no rows any more out of log_days.
create function logloom_private.leave_expired_day(p_tenant_ids text[], p_day date)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Without the writer, which notes a day only where it is not noted yet.
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
  execute format(
    'delete from logloom_private.log_days d where d.day = $1 and d.tenant_id = any($2) '
      || 'and not exists (select from logloom.logs l where l.tenant_id = d.tenant_id '
      || 'and l.ts >= %L::timestamptz and l.ts < %L::timestamptz)',
    logloom_private.day_start(p_day), logloom_private.day_start(p_day + 1)
  )
  using p_day, p_tenant_ids;
end;
$$;
