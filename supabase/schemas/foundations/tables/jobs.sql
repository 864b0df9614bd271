-- The jobs, their schedules and results. work() runs them; schedule_jobs() adds the rows.
create table logloom_private.jobs (
  name text primary key,
  lane text not null,
  step text not null,
  every interval not null,
  silence interval not null,
  failures_allowed integer not null default 2,
  is_paused boolean not null default false,
  next_at timestamptz not null default now(),
  last_started_at timestamptz,
  last_succeeded_at timestamptz,
  last_duration_ms double precision,
  last_failed_at timestamptz,
  last_error text,
  failures integer not null default 0,
  made_at timestamptz not null default now(),
  constraint jobs_lane_is_known check (lane in ('write', 'send', 'tend', 'ingest')),
  constraint jobs_limits_are_positive check (
    least(every, silence) > interval '0' and failures_allowed >= 0
  )
)
-- Few rows, updated all the time: analyzing them every minute would be wasted.
with (autovacuum_analyze_threshold = 10000);

comment on table logloom_private.jobs is 'Background jobs: when each runs and how it went.';

comment on column logloom_private.jobs.lane is
  'Jobs in the same lane run one after another. Slow jobs have lanes of their own. pg_cron runs '
  'the lanes write, send (may wait for HTTP) and tend. The edge function ingest runs the lane '
  'ingest while pg_cron runs no job.';

comment on column logloom_private.jobs.step is
  'The function that does one bounded piece of work. Returns the wait before the next piece. Null: '
  'the job waits for its interval (column every).';

comment on column logloom_private.jobs.silence is
  'Health is degraded if the last success is longer ago than this. Before the first success, '
  'made_at counts instead.';

comment on column logloom_private.jobs.failures_allowed is
  'Health is degraded if more steps than this fail in a row.';

comment on column logloom_private.jobs.is_paused is
  'Pauses the job. A change takes effect within a second.';

comment on column logloom_private.jobs.next_at is
  'When the job is due; set it to now() to run it at once. This and the following columns are '
  'updated when something changes. Otherwise only a dozen times within silence, or every 30 '
  'seconds.';

comment on column logloom_private.jobs.failures is 'Failed steps since the last success.';
