-- The next p_limit tenants after p_after (in their order) with records in a day that they do not
-- keep, without tenants whose records of the day are still to be archived.
create function logloom_private.expired_tenants(
  p_day date,
  p_today date,
  p_after text,
  p_limit integer
)
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set enable_nestloop = off
as $$
begin
  return array(
    select d.tenant_id
    from logloom_private.day_tenants(p_day) d (tenant_id)
    left join logloom_private.first_left_days(p_today) k on k.tenant_id = d.tenant_id
    left join logloom_private.archiving_tenants() a (tenant_id) on a.tenant_id = d.tenant_id
    where d.tenant_id > p_after and coalesce(k.first_kept_day, p_today) > p_day
      and not (
        a.tenant_id is not null
        and logloom_private.awaits_archive(a.tenant_id, p_day, p_today)
      )
    order by d.tenant_id
    limit p_limit
  );
end;
$$;
