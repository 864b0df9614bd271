-- The first day that each tenant keeps: by its retention, or the day after the one that is being
-- dropped because storage is full.
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
