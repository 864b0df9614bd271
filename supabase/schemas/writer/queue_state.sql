create type logloom_private.queue_state as (depth bigint, oldest_received_at timestamptz);

-- Events in the queue and when the oldest one was received: from what was metered, and the last
-- batches that were not yet, so that it costs the same at any depth.
create function logloom_private.queue_state()
returns logloom_private.queue_state
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_slot record;
  v_part logloom_private.queue_state;
  v_state logloom_private.queue_state := row(0, null);
begin
  for v_slot in
    select
      s.slot, p.metered_through, s.metered_events - s.moved_events as events,
      (
        select min(m.received_at)
        from logloom_private.queue_marks m
        where m.slot = s.slot and m.batch_to > s.moved_through
      ) as oldest_received_at
    from logloom_private.queue_slots s, logloom_private.queue_pointer p
    where s.slot in (p.open_slot, p.closed_slot)
  loop
    execute format(
      'select coalesce(sum(q.events), 0), min(q.received_at)
       from logloom_private.%I q where q.batch_id > $1',
      'queue_slot_' || v_slot.slot
    )
    into v_part
    using v_slot.metered_through;
    v_state := row(
      v_state.depth + v_slot.events + v_part.depth,
      least(v_state.oldest_received_at, v_slot.oldest_received_at, v_part.oldest_received_at)
    );
  end loop;
  return v_state;
end;
$$;
