-- Counts what was enqueued since, also into the open slot, where it is more than
-- writer_meter_batches: so quotas and health look at a bounded number of batches however far behind
-- the writer is.
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
      from logloom_private.queue_pointer p, logloom_private.queue_batch_id b,
        logloom_private.settings s
      where b.last_value - p.metered_through > s.writer_meter_batches
    )
  then
    return;
  end if;
  begin
    v_lock_wait := logloom_private.limit_lock_wait(
      (select s.writer_flip_lock_timeout from logloom_private.settings s)
    );
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
