-- Deletions of records: by age, according to each tenant's retention, and on request (delete_logs).
--
-- logloom.retention_runs lists all deletions. A transaction deletes a limited number of records. If
-- a job is killed, its committed transactions are not repeated.

create type public.logloom_retention_run as (
  run_id uuid,
  tenant_id text,
  kind text,
  status text,
  requested_by text,
  requested_at timestamptz,
  query_dsl text,
  ts_from timestamptz,
  ts_to timestamptz,
  dry_run boolean,
  records bigint,
  partitions integer,
  finished_at timestamptz,
  error text,
  archive_files integer,
  archive_records bigint,
  not_reached jsonb
);

comment on type public.logloom_retention_run is
  'A deletion. kind: retention (by age), erasure (on request) or storage (a day dropped because '
  'storage was full). status: queued, running, done, interrupted (a later day''s run continued '
  'it), or failed (with error). ts_from inclusive, ts_to exclusive. records: how many were deleted '
  'so far; in a dry run, how many match. partitions: days that were dropped as a whole. '
  'archive_records: how many records were removed from archive_files files of the archive. records '
  'does not include them. not_reached: where copies may remain after an erasure. Null before it is '
  'done.';

create type public.logloom_tenant_deletion as (
  deletion_id uuid,
  tenant_id text,
  requested_at timestamptz
);

comment on type public.logloom_tenant_deletion is
  'A tenant that is being deleted. The receipt has the same deletion_id.';
