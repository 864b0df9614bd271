-- A run as operations show it.
create function logloom_private.retention_run_of(p_run logloom.retention_runs)
returns public.logloom_retention_run
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_run.run_id, p_run.tenant_id, p_run.kind, p_run.status, p_run.requested_by,
    p_run.requested_at, p_run.query_dsl, p_run.ts_from, p_run.ts_to, p_run.dry_run, p_run.records,
    p_run.partitions, p_run.finished_at, p_run.error
  );
end;
$$;

grant execute on function logloom_private.retention_run_of(logloom.retention_runs)
to authenticated, service_role;
