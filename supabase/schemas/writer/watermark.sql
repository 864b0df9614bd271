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

-- Everything received before is visible: the lesser of the oldest queued batch and the start of the
-- writer's last run less the enqueue timeout. Null before the writer ever ran. p_oldest_queued: of
-- queue_state(); no default, since Citus finds a circle in one that calls a function.
create function logloom_private.watermark(p_oldest_queued timestamptz)
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_writer_started_at timestamptz;
begin
  -- A run that failed left its batches in the queue, so its start is as good as another's.
  -- Nor does it matter who started it: ingest does while pg_cron is away.
  select max(h.last_started_at) into v_writer_started_at
  from logloom_private.job_heartbeats h
  where h.job in ('write_logs', 'run_writer') and h.last_started_at <= clock_timestamp();
  if v_writer_started_at is null then
    return null;
  end if;
  return least(p_oldest_queued, v_writer_started_at - logloom_private.enqueue_timeout());
end;
$$;
