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
  v_pointer constant logloom_private.queue_pointer :=
    (select p from logloom_private.queue_pointer p);
  v_state logloom_private.queue_state;
begin
  -- Planned for these slots: the third one is never locked, so it can be truncated meanwhile.
  execute $query$
    select
      sum(s.metered_events - s.moved_events + coalesce(u.events, 0)),
      min(least(m.received_at, u.received_at))
    from logloom_private.queue_slots s
    cross join lateral (
      select min(m.received_at) as received_at
      from logloom_private.queue_marks m
      where m.slot = s.slot and m.batch_to > s.moved_through
    ) m
    left join (
      select q.slot, sum(q.events) as events, min(q.received_at) as received_at
      from logloom_private.queue q
      where q.slot = any ($1) and q.batch_id > $2
      group by q.slot
    ) u on u.slot = s.slot
    where s.slot = any ($1)
  $query$
  into v_state
  using array[v_pointer.open_slot, v_pointer.closed_slot], v_pointer.metered_through;
  return v_state;
end;
$$;
