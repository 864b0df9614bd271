create table logloom_private.job_limits (
  job text primary key,
  silence interval not null,
  failures integer not null default 3,
  watched_since timestamptz not null default now(),
  constraint job_limits_are_positive check (silence > interval '0' and failures >= 1)
);

-- Some three times what lies between two runs, and what a run may take.
insert into logloom_private.job_limits (job, silence)
values
  ('write_logs', '60 seconds'),
  ('compact_log_counts', '5 minutes'),
  ('maintain_partitions', '3 hours'),
  ('run_retention', '26 hours'),
  ('run_deletions', '10 minutes'),
  ('seal_logs', '1 hour'),
  ('verify_logs', '1 hour'),
  ('run_canary', '10 minutes'),
  ('archive_logs', '10 minutes'),
  ('evaluate_alerts', '3 minutes'),
  ('send_notifications', '3 minutes'),
  ('send_log_streams', '3 minutes'),
  ('purge_job_history', '1 hour'),
  ('purge_old_rows', '4 hours');

comment on table logloom_private.job_limits is
  'What health takes from each scheduled job before it is degraded.';

comment on column logloom_private.job_limits.silence is
  'How long ago its last run that succeeded may be; of one that never ran, watched_since.';

comment on column logloom_private.job_limits.failures is 'Runs in a row that may fail, less one.';
