-- Returns how long after its received_at a batch can become visible: the statement timeout of
-- ingest_text.
create function logloom_private.enqueue_timeout()
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    -- A number without a unit is in milliseconds, as everywhere in PostgreSQL's settings.
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

-- Returns the watermark: every event received before this time is visible. An event received later
-- may still be in the queue. Within enqueue_timeout() of its receipt it may not even be committed.
-- p_oldest_queued: from queue_state(), read in this transaction. It has no default: with one that
-- calls a function, Citus reports a circular dependency.
create function logloom_private.watermark(p_oldest_queued timestamptz)
returns timestamptz
language sql
stable
return least(p_oldest_queued, now() - logloom_private.enqueue_timeout());

create type logloom_private.queue_state as (depth bigint, oldest_received_at timestamptz);

-- Returns the number of events in the queue, and when the oldest was received. Adds up the metered
-- counts and the last batches that were not metered yet. So it costs the same however long the
-- queue is.
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
  -- Planned for these two slots only: the third one is never locked and can be truncated meanwhile.
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

-- Returns how many batches may be unmetered. Quotas and health count at most this many batches one
-- by one, however long the queue is.
create function logloom_private.max_unmetered_batches()
returns integer
language sql
immutable
return 1000;

-- Meters the batches that were enqueued since the last time, including those in the open slot. Does
-- nothing if there are at most max_unmetered_batches of them.
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
    -- While no enqueue runs, every batch that has a number is committed or never will be. The
    -- session-level lock can be released before the transaction ends.
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
