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
