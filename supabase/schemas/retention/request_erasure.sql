-- Orders the erasure of all records of a tenant.
create function logloom_private.request_erasure(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  select
    p_tenant_id, 'erasure', 'queued', logloom_private.actor(), clock_timestamp(), 'ts:*',
    '1970-01-01 00:00:00+00',
    -- Later than any record: queued events, and records from a time when a larger
    -- ingest_future_limit was set.
    greatest(
      now() + greatest(s.ingest_future_limit, interval '1 day') + interval '1 day',
      (
        select logloom_private.day_start(max(d.day) + 1)
        from logloom_private.log_days d
        where d.tenant_id = p_tenant_id
      )
    ),
    false
  from logloom_private.settings s;
end;
$$;
