-- Returns the check of the writer: how long ago it last ran. Runs that ingest started count as
-- well. If the writer never ran, the time is infinite.
create function logloom_private.writer_health(p_now timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings constant logloom_private.settings := (select s from logloom_private.settings s);
  v_run logloom_private.jobs;
  v_silence interval;
  v_limit interval;
  v_reason text;
begin
  select j.* into v_run
  from logloom_private.jobs j
  where j.name in ('write_logs', 'run_writer')
  order by logloom_private.silence_since(j.last_succeeded_at, p_now), j.last_succeeded_at desc
    nulls last
  limit 1;
  v_silence := logloom_private.silence_since(v_run.last_succeeded_at, p_now);
  v_limit := case
    when v_silence >= v_settings.writer_unhealthy_silence then v_settings.writer_unhealthy_silence
    else v_settings.writer_degraded_silence
  end;
  if v_silence >= v_limit then
    v_reason := logloom_private.silence_reason('No run of the writer', v_silence, v_limit);
  end if;
  return logloom_private.health_grade(
    case when v_silence >= v_settings.writer_unhealthy_silence then v_reason end,
    case when v_silence < v_settings.writer_unhealthy_silence then v_reason end
  ) || jsonb_build_object(
    'last_run', v_run.last_succeeded_at,
    'last_duration_ms', round(v_run.last_duration_ms::numeric, 3),
    'seconds_since_run', case
      when isfinite(v_silence) then round(extract(epoch from v_silence), 3)
    end
  );
end;
$$;
