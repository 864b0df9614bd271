create type public.logloom_archive_part as (
  part_id uuid,
  tenant_id text,
  first_day date,
  last_day date,
  ts_from timestamptz,
  ts_to timestamptz,
  records integer,
  bytes bigint,
  status text,
  verified_at timestamptz,
  bucket text,
  key text,
  sha256 text
);

comment on type public.logloom_archive_part is
  'A file of the archive. ts_from and ts_to: ts of its first and of its last record. status: '
  'verified, or missing if the bucket no longer has the file. key: its key in the bucket.';

create type public.logloom_archive_restore as (
  restore_id uuid,
  tenant_id text,
  requested_by text,
  requested_at timestamptz,
  ts_from timestamptz,
  ts_to timestamptz,
  query_dsl text,
  kept_until timestamptz,
  status text,
  files integer,
  files_done integer,
  records bigint,
  bytes bigint,
  finished_at timestamptz,
  error text
);

comment on type public.logloom_archive_restore is
  'A restore of records from the archive. status: queued, running, done, or failed with error. '
  'ts_from inclusive, ts_to exclusive. files: how many files to read. bytes: how many bytes were '
  'read. records: how many records were restored. kept_until: when they are deleted again.';
