-- A step of the job write_logs: moves the next batches of the closed slot. Where none are left, it
-- frees the slots that were moved, or closes the open slot. Each is a transaction of its own,
-- because enqueues wait until a flip is committed.
create function logloom_private.write_logs()
returns interval
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Quotas and health do not wait until a long queue was moved.
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
