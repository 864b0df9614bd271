-- The tenants that have, or had until lately, records in a day, or a block that ends in it.
create function logloom_private.day_tenants(p_day date)
returns setof text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.tenant_id from logloom_private.log_days t where t.day = p_day
  union
  select c.tenant_id
  from logloom_private.blocks c
  where c.last_ts >= logloom_private.day_start(p_day)
    and c.last_ts < logloom_private.day_start(p_day + 1);
end;
$$;

-- Whether a tenant with records in the day keeps it. A tenant that is gone keeps only what may
-- still be on its way. No nested loop: it would go through all tenants for each one.
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
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    where coalesce(k.first_kept_day, p_today) <= p_day
  );
end;
$$;

-- The first p_limit tenants after p_after of a day that do not keep it, in their order.
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
    left join logloom_private.first_kept_days(p_today) k on k.tenant_id = d.tenant_id
    where d.tenant_id > p_after and coalesce(k.first_kept_day, p_today) > p_day
    order by d.tenant_id
    limit p_limit
  );
end;
$$;
