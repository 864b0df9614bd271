create table logloom_private.job_heartbeats (
  job text primary key,
  last_started_at timestamptz,
  last_succeeded_at timestamptz,
  last_duration_ms double precision,
  last_failed_at timestamptz,
  last_error text,
  failures integer not null default 0
);

comment on table logloom_private.job_heartbeats is
  'One row for each scheduled job: when it last ran, how long it took, and its last error.';

comment on column logloom_private.job_heartbeats.failures is
  'Runs that failed since the last one that succeeded.';
