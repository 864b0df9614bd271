-- Returns what a tenant has sent per UTC day since p_from, including the queue. spans: how many of
-- the events are spans.
create function logloom_private.usage_of(p_tenant_id text, p_from date)
returns table (day date, events bigint, bytes bigint, spans bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_metered logloom.usage_days[];
begin
  -- One statement has one snapshot: a batch is either in usage_days or after metered_through.
  select
    p.open_slot, p.closed_slot, p.metered_through, array(
      select u
      from logloom.usage_days u
      where u.tenant_id = p_tenant_id and u.day >= p_from
    )
  into v_pointer.open_slot, v_pointer.closed_slot, v_pointer.metered_through, v_metered
  from logloom_private.queue_pointer p;
  -- The query plan has only these two slots. The third is not locked and can be truncated.
  return query execute $query$
    select u.day, sum(u.events)::bigint, sum(u.bytes)::bigint, sum(u.spans)::bigint
    from (
      select m.day, m.events, m.bytes, m.spans from unnest($1) m
      union all
      select
        (q.received_at at time zone 'UTC')::date, q.events + s.count_dropped::integer * q.dropped,
        q.bytes, q.spans
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
