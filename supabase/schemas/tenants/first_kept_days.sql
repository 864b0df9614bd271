-- first_kept_day of every tenant, at once.
create function logloom_private.first_kept_days(p_today date)
returns table (tenant_id text, first_kept_day date)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    t.tenant_id,
    -- As retention_days says it of one.
    p_today - least(coalesce(s.retention_days, p.retention_days_default), p.retention_days_max)
  from logloom.tenants t
  join logloom.plans p on p.plan_id = t.plan_id
  left join logloom.tenant_settings s on s.tenant_id = t.tenant_id;
end;
$$;
