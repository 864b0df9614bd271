-- Counts the batches up to p_through that are not counted yet, for quotas and for the state of the
-- queue. The writer calls it when no batch up to p_through is in flight.
create function logloom_private.meter_batches(p_through bigint)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_slot smallint;
  v_last bigint;
  v_events bigint;
  v_received_at timestamptz;
begin
  select p.* into v_pointer from logloom_private.queue_pointer p;
  if p_through <= v_pointer.metered_through then
    return;
  end if;
  foreach v_slot in array array_remove(array[v_pointer.closed_slot, v_pointer.open_slot], null) loop
    execute format(
      $query$
        with b as materialized (
          select q.batch_id, q.tenant_id, q.received_at, q.events, q.bytes, q.dropped,
            q.rule_counts, q.spans
          from logloom_private.%I q
          where q.batch_id > $1 and q.batch_id <= $2
        ), counted as (
          insert into logloom.usage_days as u (tenant_id, day, events, bytes, dropped, spans)
          select
            b.tenant_id, (b.received_at at time zone 'UTC')::date,
            sum(b.events + s.count_dropped::integer * b.dropped), sum(b.bytes), sum(b.dropped),
            sum(b.spans)
          from b
          cross join logloom_private.settings s
          -- Skips tenants that were deleted meanwhile.
          join logloom.tenants t on t.tenant_id = b.tenant_id
          group by 1, 2
          on conflict (tenant_id, day) do update
          set events = u.events + excluded.events, bytes = u.bytes + excluded.bytes,
            dropped = u.dropped + excluded.dropped, spans = u.spans + excluded.spans
        ), ruled as (
          insert into logloom.ingest_rule_hours as h (
            tenant_id, rule_id, hour, seen, matched, masked, dropped, sampled, not_checked, bytes
          )
          select
            b.tenant_id, c.id, date_trunc('hour', b.received_at, 'UTC'), coalesce(sum(c.seen), 0),
            coalesce(sum(c.matched), 0), coalesce(sum(c.masked), 0), coalesce(sum(c.dropped), 0),
            coalesce(sum(c.sampled), 0), coalesce(sum(c.not_checked), 0), coalesce(sum(c.bytes), 0)
          from b
          cross join lateral unnest(b.rule_counts) c
          join logloom.ingest_rules r on r.rule_id = c.id and r.tenant_id = b.tenant_id
          group by 1, 2, 3
          on conflict (tenant_id, rule_id, hour) do update
          set seen = h.seen + excluded.seen, matched = h.matched + excluded.matched,
            masked = h.masked + excluded.masked, dropped = h.dropped + excluded.dropped,
            sampled = h.sampled + excluded.sampled,
            not_checked = h.not_checked + excluded.not_checked, bytes = h.bytes + excluded.bytes
        )
        -- A batch without events counts as one event, so that its slot is emptied.
        select max(b.batch_id), sum(greatest(b.events, 1)), min(b.received_at) from b
      $query$,
      'queue_slot_' || v_slot
    )
    into v_last, v_events, v_received_at
    using v_pointer.metered_through, p_through;
    continue when v_last is null;
    update logloom_private.queue_slots s
    set metered_events = s.metered_events + v_events
    where s.slot = v_slot;
    insert into logloom_private.queue_marks (slot, batch_to, received_at)
    values (v_slot, v_last, v_received_at);
  end loop;
  update logloom_private.queue_pointer set metered_through = p_through where singleton;
end;
$$;
