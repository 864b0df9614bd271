-- Closes the open slot and opens another, unless the open one has nothing to move, one is still
-- being moved, or enqueues in flight hold the lock too long. True if it flipped.
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
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.writer_flip_lock_timeout from logloom_private.settings s)
    );
    perform pg_advisory_xact_lock(logloom_private.lock_key('queue'));
  exception when lock_not_available then
    return false;
  end;
  perform logloom_private.restore_lock_wait(v_lock_wait);

  -- The emptiest slot is next. One that could not be emptied yet can be filled further: what was
  -- moved lies below moved_through.
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
