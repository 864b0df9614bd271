-- Adds to usage_services. The transaction that moves the events from the queue calls it.
create function logloom_private.count_services(p_counts logloom_private.service_count[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with counted as (
    select
      c.tenant_id, c.day, case when length(c.service) <= 200 then c.service end as service,
      sum(c.events) as events, coalesce(sum(c.record_bytes), 0) as record_bytes
    from unnest(p_counts) c
    -- Skips tenants that were deleted meanwhile.
    join logloom.tenants t on t.tenant_id = c.tenant_id
    group by 1, 2, 3
  ), placed as (
    select
      c.*, k.is_known, row_number() over (
        partition by c.tenant_id collate "C", c.day, k.is_known
        order by c.record_bytes desc, c.service collate "C"
      ) as place
    from counted c
    cross join lateral (
      select c.service is null or exists (
        select
        from logloom_private.usage_services u
        where u.tenant_id = c.tenant_id and u.day = c.day and u.service = c.service
      )
    ) k (is_known)
  )
  insert into logloom_private.usage_services as u (tenant_id, day, service, events, record_bytes)
  select
    p.tenant_id, p.day, case
      when p.is_known or p.place + (
        select count(s.service)
        from logloom_private.usage_services s
        where s.tenant_id = p.tenant_id and s.day = p.day
      ) <= logloom_private.max_counted_services()
      then p.service
    end,
    sum(p.events), sum(p.record_bytes)
  from placed p
  group by 1, 2, 3
  on conflict (tenant_id, day, service) do update
  set events = u.events + excluded.events, record_bytes = u.record_bytes + excluded.record_bytes;
end;
$$;
