-- Returns the tenants with records in a day, or with a block that ends in it. Some may have lost
-- their last records shortly before.
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

-- Returns the first day that each tenant keeps, according to its retention. While a day is being
-- dropped because storage is full, each tenant keeps only later days.
create function logloom_private.first_left_days(p_today date)
returns table (tenant_id text, first_kept_day date)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    k.tenant_id,
    greatest(k.first_kept_day, (select s.limit_day + 1 from logloom_private.storage s))
  from logloom_private.first_kept_days(p_today) k;
end;
$$;

-- True if a tenant with records in the day keeps them or has not archived them yet. A tenant that
-- no longer exists keeps only today, because its last records may still be queued. Nested loops are
-- off: they would go through all tenants for each tenant.
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

-- Returns the next p_limit tenants after p_after with records in a day that they do not keep. Skips
-- tenants whose records of the day are still to be archived.
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
