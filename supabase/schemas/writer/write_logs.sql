-- One run of the writer, until less than a step is waiting, or to writer_run_limit: pg_cron begins
-- the next run at a full second, so the writer would rest after a run that goes beyond one. Steps,
-- each committed. Called by pg_cron. No set clause and not definer: such a procedure could not
-- commit. Every name and every type is qualified, since one of that name in pg_temp would come
-- first.
create procedure logloom_private.write_logs()
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_limit constant pg_catalog.timestamptz := least(
    v_started_at + (select s.writer_run_limit from logloom_private.settings s),
    logloom_private.job_deadline(v_started_at)
  );
  v_step_events constant pg_catalog.int4 :=
    (select s.writer_step_events from logloom_private.settings s);
  v_events pg_catalog.int4;
  v_since_flip pg_catalog.int4;
  v_flipped pg_catalog.bool := false;
  v_noted_at pg_catalog.timestamptz := v_started_at;
  v_level constant pg_catalog.text :=
    pg_catalog.current_setting('default_transaction_isolation');
  v_error pg_catalog.text;
begin
  -- Whoever waited for a lock sees what was done meanwhile: a project may have another level.
  set default_transaction_isolation = 'read committed';
  commit;
  begin
    perform logloom_private.meter_queue();
  exception when others then
    v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
  end;
  commit;
  loop
    -- What an earlier run left behind comes first, then what the flip closes.
    v_since_flip := 0;
    loop
      begin
        v_events := logloom_private.write_step();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        v_events := 0;
      end;
      commit;
      v_since_flip := v_since_flip + v_events;
      exit when v_events = 0 or pg_catalog.clock_timestamp() > v_limit;
      -- Quotas, health and the watermark of alerts do not wait for the end of a long run: each
      -- second of it is noted as a run.
      if pg_catalog.clock_timestamp() > v_noted_at + '1 second'::pg_catalog.interval then
        begin
          perform logloom_private.meter_queue();
          perform logloom_private.record_job('write_logs', v_noted_at);
        exception when others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
        exit when v_error is not null;
        v_noted_at := pg_catalog.clock_timestamp();
      end if;
    end loop;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_limit;
    -- A further flip in this run only where there is more than a step's worth to move.
    exit when v_flipped and v_since_flip < v_step_events;
    if v_flipped then
      begin
        perform logloom_private.empty_moved_slots();
      exception when query_canceled or others then
        v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
      end;
      commit;
      exit when v_error is not null;
    end if;
    v_flipped := logloom_private.flip_queue();
    commit;
    exit when not v_flipped;
  end loop;

  begin
    perform logloom_private.empty_moved_slots();
    perform logloom_private.provide_partitions();
  exception when query_canceled or others then
    v_error := coalesce(v_error, pg_catalog.format('%s: %s', sqlstate, sqlerrm));
  end;
  perform logloom_private.record_job('write_logs', v_noted_at, v_error);
  perform pg_catalog.set_config('default_transaction_isolation', v_level, false);
  commit;
end;
$$;
