-- What is older the tenant does not keep: retention_days whole UTC days before today.
create function logloom_private.kept_from(p_tenant_id text)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.day_start(
    logloom_private.utc_day(now()) - logloom_private.retention_days(p_tenant_id)
  );
end;
$$;
