-- How long after its received_at a batch can become visible: the timeout of ingest_text.
create function logloom_private.enqueue_timeout()
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    -- A bare number is milliseconds, as everywhere in PostgreSQL's settings.
    select (case when t.timeout ~ '^[0-9]+$' then t.timeout || ' ms' else t.timeout end)::interval
    from (
      select split_part(c.setting, '=', 2) as timeout
      from pg_catalog.pg_proc p, unnest(p.proconfig) c (setting)
      where p.oid = 'public.ingest_text(text)'::regprocedure
        and c.setting like 'statement_timeout=%'
    ) t
  );
end;
$$;

-- Everything received before this time is visible: a batch is stored, or in the queue, or not yet
-- committed and then received less than enqueue_timeout() ago. p_oldest_queued: of queue_state(),
-- read in this transaction; no default, since Citus finds a circle in one that calls a function.
create function logloom_private.watermark(p_oldest_queued timestamptz)
returns timestamptz
language sql
stable
return least(p_oldest_queued, now() - logloom_private.enqueue_timeout());

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

-- Batches that may wait uncounted: quotas and health look at so many at most, however far behind
-- the writer is.
create function logloom_private.max_unmetered_batches()
returns integer
language sql
immutable
return 1000;

-- Counts what was enqueued since, also into the open slot, where it is more than
-- max_unmetered_batches.
create function logloom_private.meter_queue()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_lock_wait text;
  v_through bigint;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer'))
    or not exists (
      select
      from logloom_private.queue_pointer p, logloom_private.queue_batch_id b
      where b.last_value - p.metered_through > logloom_private.max_unmetered_batches()
    )
  then
    return;
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(logloom_private.enqueue_wait());
    -- A moment without an enqueue in flight: whatever has a number by then is committed or never
    -- will be. Of the session, so that it is given back at once.
    perform pg_advisory_lock(logloom_private.lock_key('queue'));
    v_through := (select b.last_value from logloom_private.queue_batch_id b where b.is_called);
    perform pg_advisory_unlock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    v_through := null;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);
  if v_through is not null then
    perform logloom_private.meter_batches(v_through);
  end if;
end;
$$;
