-- Seam: waits until nothing writes to logloom.logs. Stops the writer, retention, erasures and
-- sealing until the transaction ends. Requests still fill the queue. A migration that changes
-- logloom.logs calls it first. Otherwise the migration and the jobs could deadlock.
create function logloom_private.hold_writers()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Takes the locks in the same order as the jobs do.
  perform pg_advisory_xact_lock(logloom_private.lock_key('deletion'));
  perform pg_advisory_xact_lock(logloom_private.lock_key('writer'));
end;
$$;

create type public.logloom_writer_run as (moved integer, done boolean);

comment on type public.logloom_writer_run is
  'How many events a call of run_writer moved, and whether nothing is left to do.';

create function logloom_private.run_writer_in_place()
returns public.logloom_writer_run
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because service_role cannot read the queue or write records
declare
  v_started_at constant timestamptz := clock_timestamp();
  -- No further step begins after this.
  v_deadline constant timestamptz := v_started_at + interval '900 milliseconds';
  v_moved integer := 0;
  v_step integer;
begin
  if logloom_private.is_read_only() then
    return row(0, true);
  end if;
  perform logloom_private.meter_queue();
  loop
    v_step := logloom_private.write_step();
    v_moved := v_moved + v_step;
    exit when v_step = 0 or clock_timestamp() > v_deadline;
  end loop;
  if v_moved > 0 then
    perform logloom_private.record_job('run_writer', v_started_at);
    return row(v_moved, false);
  end if;
  -- A call that flips moves nothing, because enqueues wait until the flip is committed.
  perform logloom_private.empty_moved_slots();
  if logloom_private.flip_queue() then
    return row(0, false);
  end if;
  perform logloom_private.record_job('run_writer', v_started_at);
  return row(0, true);
end;
$$;

create function public.run_writer()
returns public.logloom_writer_run
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '8s'
as $$
begin
  return logloom_private.run_writer_in_place();
end;
$$;

comment on function public.run_writer() is
  'While pg_cron does not run the writer, the edge function ingest calls this until done is true. '
  'Moves the closed slot of the queue, or closes the open one. Other runs at the same time do no '
  'harm.';
