-- The tenants with records in a day, or with a block that ends in it. Some may have lost their last
-- records shortly before.
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
