create function logloom_private.day_tenants(
  p_day date,
  p_after text default null,
  p_limit integer default null
)
returns text[]
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return array(
    select d.tenant_id
    from (
      select t.tenant_id from logloom_private.log_days t where t.day = p_day
      union
      select c.tenant_id
      from logloom_private.sealed_chunks c
      where c.last_ts >= logloom_private.day_start(p_day)
        and c.last_ts < logloom_private.day_start(p_day + 1)
    ) d
    where p_after is null or d.tenant_id > p_after
    order by d.tenant_id
    limit p_limit
  );
end;
$$;

revoke all on function logloom_private.day_tenants(date, text, integer) from public;

comment on function logloom_private.day_tenants(date, text, integer) is
  'The tenants that have, or had until lately, records in a day, or a chunk that ends in it, in '
  'their order: those after p_after, p_limit of them; all where these are null.';
