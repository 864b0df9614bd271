-- Orders the erasure of all log records of a tenant.
create function logloom_private.request_erasure(p_tenant_id text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into logloom.retention_runs (
    tenant_id, kind, status, requested_by, requested_at, query_dsl, ts_from, ts_to, dry_run
  )
  values (
    p_tenant_id, 'erasure', 'queued', logloom_private.actor(), clock_timestamp(), 'ts:*',
    '1970-01-01 00:00:00+00', now() + interval '2 days', false
  );
end;
$$;
