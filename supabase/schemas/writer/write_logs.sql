-- Creates missing partitions of past days that the batches need.
create function logloom_private.create_missing_partitions(
  p_slot smallint,
  p_batch_from bigint,
  p_batch_to bigint
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_day date;
  v_first_day date;
  v_last_day date;
begin
  execute format(
    'select logloom_private.utc_day(min(q.ts_min)), logloom_private.utc_day(max(q.ts_max))
     from logloom_private.%I q where q.batch_id between $1 and $2',
    'queue_slot_' || p_slot
  )
  into v_first_day, v_last_day
  using p_batch_from, p_batch_to;
  -- Nearly always all days between the first and the last event exist. If not, check each event.
  if not exists (
    select
    from generate_series(v_first_day::timestamp, v_last_day, interval '1 day') d (day)
    where not logloom_private.partition_exists(d.day::date)
  ) then
    return;
  end if;

  for v_day in
    execute format(
      $query$
        select distinct (coalesce(e.ts, q.received_at) at time zone 'UTC')::date
        from logloom_private.%I q, unnest(q.ts) e (ts)
        where q.batch_id between $1 and $2
      $query$,
      'queue_slot_' || p_slot
    )
    using p_batch_from, p_batch_to
  loop
    perform logloom_private.create_partition(v_day);
  end loop;
end;
$$;

create function logloom_private.max_step_batches()
returns integer
language sql
immutable
return 5000;

-- Moves the next batches of the closed slot, in this transaction. Returns the number of events; 0
-- if none was left.
create function logloom_private.write_step()
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max_bytes constant bigint := 64 << 20;
  v_slot smallint;
  v_batch_from bigint;
  v_batch_to bigint;
  v_last bigint;
  v_events integer;
  v_largest integer;
  v_write_seq bigint;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer')) then
    return 0;
  end if;
  select p.closed_slot into v_slot from logloom_private.queue_pointer p;
  if v_slot is null then
    return 0;
  end if;

  execute format(
    $query$
      select
        min(b.batch_id), max(b.batch_id), sum(greatest(b.events, 1)), max(b.events),
        (select max(l.batch_id) from logloom_private.%1$I l)
      from (
        select
          q.batch_id, q.events,
          sum(q.events) over (order by q.batch_id) - q.events as events_before,
          sum(q.bytes) over (order by q.batch_id) - q.bytes as bytes_before
        from logloom_private.%1$I q
        where q.batch_id > (
          select s.moved_through from logloom_private.queue_slots s where s.slot = $1
        )
        order by q.batch_id
        limit $2
      ) b
      where b.events_before < (select s.writer_step_events from logloom_private.settings s)
        and b.bytes_before < $3
    $query$,
    'queue_slot_' || v_slot
  )
  into v_batch_from, v_batch_to, v_events, v_largest, v_last
  using v_slot, logloom_private.max_step_batches(), v_max_bytes;

  if v_batch_to is null then
    update logloom_private.queue_pointer set closed_slot = null where singleton;
    return 0;
  end if;

  perform logloom_private.meter_batches(v_last);
  perform logloom_private.create_missing_partitions(v_slot, v_batch_from, v_batch_to);
  v_write_seq := nextval('logloom_private.write_seq');
  perform logloom_private.write_range(v_slot, v_batch_from, v_batch_to, 1, v_largest, v_write_seq);
  update logloom_private.queue_slots s
  set moved_through = v_batch_to, moved_events = s.moved_events + v_events
  where s.slot = v_slot;
  delete from logloom_private.queue_marks m
  where m.slot = v_slot and m.batch_to <= v_batch_to;
  update logloom_private.queue_pointer p set closed_slot = null where v_batch_to = v_last;
  return v_events;
end;
$$;

-- Runs a step of the job write_logs: moves the next batches of the closed slot. If none are left,
-- empties moved slots. If there are no moved slots either, closes the open slot. Each of these is a
-- transaction of its own: enqueues wait until a flip is committed.
create function logloom_private.write_logs()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- If no event arrived, this nearly always returns here. A flip waits for running enqueues, so all
  -- batches of the open slot have numbers above moved_through. The next step sees batches that get
  -- their numbers after this query.
  if exists (
    select
    from logloom_private.queue_pointer p, logloom_private.queue_batch_id b
    cross join (
      select max(s.moved_through) as moved_through, sum(s.moved_events) as moved_events
      from logloom_private.queue_slots s
    ) s
    where p.closed_slot is null and s.moved_events = 0
      and (not b.is_called or b.last_value <= s.moved_through)
  ) then
    return null;
  end if;
  -- Comes before the step: quotas and health must not wait for a long queue.
  perform logloom_private.meter_queue();
  return case
    when logloom_private.write_step() > 0 then
      case when (select p.closed_slot from logloom_private.queue_pointer p) is not null then
        interval '0'
      end
    when logloom_private.empty_moved_slots() then interval '0'
    when logloom_private.flip_queue() then interval '0'
  end;
end;
$$;
