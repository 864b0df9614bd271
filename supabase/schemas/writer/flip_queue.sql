-- Returns how long flip_queue and meter_queue wait for running enqueues. Meanwhile new enqueues
-- wait, too. If the time is not enough, a later step does the work.
create function logloom_private.enqueue_wait()
returns interval
language sql
immutable
return interval '200 milliseconds';

-- Returns the time after which a moved slot is emptied even if it has few events.
create function logloom_private.truncate_age()
returns interval
language sql
immutable
return interval '1 minute';

-- Truncates moved slots. Returns true if there were any. A slot that a session is reading is left
-- for later.
create function logloom_private.empty_moved_slots()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  -- Truncating costs as much as moving some thousand events.
  v_enough_events constant bigint := 20000;
  v_slot smallint;
  v_lock_wait text;
  v_has_emptied boolean := false;
begin
  if not pg_try_advisory_xact_lock(logloom_private.lock_key('writer')) then
    return false;
  end if;
  for v_slot in
    select s.slot
    from logloom_private.queue_slots s, logloom_private.queue_pointer p
    where s.slot <> p.open_slot
      and s.slot is distinct from p.closed_slot
      and (
        s.moved_events >= v_enough_events
        or s.moved_events > 0 and s.truncated_at < now() - logloom_private.truncate_age()
      )
  loop
    begin
      v_lock_wait := logloom_private.limit_lock_wait('50 milliseconds');
      execute format('truncate logloom_private.%I', 'queue_slot_' || v_slot);
      update logloom_private.queue_slots s
      set moved_events = 0, metered_events = 0, truncated_at = now()
      where s.slot = v_slot;
      perform logloom_private.restore_lock_wait(v_lock_wait);
      v_has_emptied := true;
    exception when lock_not_available then
      -- A session is reading the slot. A later step empties it.
      continue;
    end;
  end loop;
  return v_has_emptied;
end;
$$;

-- Closes the open slot and opens another. Returns true if it did. Does nothing if the open slot is
-- empty, the closed slot is not completely moved, or running enqueues hold the lock too long.
create function logloom_private.flip_queue()
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_pointer logloom_private.queue_pointer;
  v_lock_wait text;
  v_has_batches boolean;
begin
  select p.* into v_pointer from logloom_private.queue_pointer p;
  if v_pointer.closed_slot is not null
    or not pg_try_advisory_xact_lock(logloom_private.lock_key('writer'))
  then
    return false;
  end if;
  execute format(
    'select exists (
       select from logloom_private.%I q, logloom_private.queue_slots s
       where s.slot = $1 and q.batch_id > s.moved_through
     )',
    'queue_slot_' || v_pointer.open_slot
  )
  into v_has_batches
  using v_pointer.open_slot;
  if not v_has_batches then
    return false;
  end if;

  begin
    v_lock_wait := logloom_private.limit_lock_wait(logloom_private.enqueue_wait());
    perform pg_advisory_xact_lock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    return false;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);

  -- Opens the emptiest slot. A slot that is not truncated yet can take new batches: only those up
  -- to moved_through count as moved.
  update logloom_private.queue_pointer p
  set closed_slot = p.open_slot,
    open_slot = (
      select s.slot
      from logloom_private.queue_slots s
      where s.slot <> p.open_slot
      order by s.moved_events, s.slot
      limit 1
    )
  where p.closed_slot is null;
  return found;
end;
$$;
