-- What runs, when, and how it fares. work() runs it; schedules/jobs.sql has the rows.
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
-- A few rows that are written all the time: statistics of each minute would tell nothing new.
with (autovacuum_analyze_threshold = 10000);

comment on table logloom_private.jobs is
  'What runs beside requests: one row a job, with when it runs and how it fares.';

comment on column logloom_private.jobs.lane is
  'Jobs of a lane run one after the other, so that nothing slow delays the writer: write, send '
  '(what may wait for HTTP) and tend. ingest: run by the edge function while pg_cron is away.';

comment on column logloom_private.jobs.step is
  'The function that does one bounded piece. It returns how long to rest before the next; null: '
  'nothing is left, until every has passed.';

comment on column logloom_private.jobs.silence is
  'Health is degraded when its last success, or made_at before the first, is longer ago.';

comment on column logloom_private.jobs.failures_allowed is
  'Health is degraded when more steps in a row fail.';

comment on column logloom_private.jobs.is_paused is
  'It rests within a second of this, and goes on within one.';

comment on column logloom_private.jobs.next_at is
  'When it is due; now() runs it at once. Written, like the columns after it, when something '
  'changes, else a dozen times within silence, or every 30 seconds.';

comment on column logloom_private.jobs.failures is
  'Steps that failed since the last one that succeeded.';
