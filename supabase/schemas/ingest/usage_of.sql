-- Returns what a tenant has sent per UTC day since p_from, including the queue.
create function logloom_private.usage_of(p_tenant_id text, p_from date)
returns setof public.logloom_usage_day
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_metered public.logloom_usage_day[];
begin
  -- One statement has one snapshot: a batch is either in usage_days or after metered_through.
  select
    p.open_slot, p.closed_slot, p.metered_through, array(
      select row(u.day, u.events, u.bytes)::public.logloom_usage_day
      from logloom.usage_days u
      where u.tenant_id = p_tenant_id and u.day >= p_from
    )
  into v_pointer.open_slot, v_pointer.closed_slot, v_pointer.metered_through, v_metered
  from logloom_private.queue_pointer p;
  -- The plan names only these two slots. The third is not locked, so that it can be truncated
  -- meanwhile.
  return query execute $query$
    select u.day, sum(u.events)::bigint, sum(u.bytes)::bigint
    from (
      select m.day, m.events, m.bytes from unnest($1) m
      union all
      select
        (q.received_at at time zone 'UTC')::date, q.events + s.count_dropped::integer * q.dropped,
        q.bytes
      from logloom_private.queue q
      cross join logloom_private.settings s
      where q.slot = any ($2) and q.tenant_id = $3 and q.batch_id > $4
    ) u
    where u.day >= $5
    group by u.day
  $query$
  using v_metered, array[v_pointer.open_slot, v_pointer.closed_slot], p_tenant_id,
    v_pointer.metered_through, p_from;
end;
$$;
