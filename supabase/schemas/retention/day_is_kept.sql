-- Whether a tenant with records in the day keeps it, or has records there that are still to be
-- archived. For a deleted tenant, only records that may still be in the queue count. Without nested
-- loops, which would go through all tenants for each one.
create function logloom_private.day_is_kept(p_day date, p_today date)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
begin
  return exists (
    select
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_left_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where coalesce(k.first_kept_day, p_today) <= p_day
      or a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
  );
end;
$$;
