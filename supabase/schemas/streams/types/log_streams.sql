create type public.logloom_log_stream as (
  stream_id uuid,
  tenant_id text,
  name text,
  query_dsl text,
  kind text,
  config jsonb,
  secrets jsonb,
  enabled boolean,
  view_id uuid,
  maker text,
  created_at timestamptz,
  updated_at timestamptz,
  status text,
  lag_seconds double precision,
  next_attempt_at timestamptz,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_status integer,
  last_error text,
  paused_at timestamptz,
  pause_reason text,
  sent_batches bigint,
  sent_records bigint,
  skipped_records bigint,
  refused_records bigint,
  test_requested_at timestamptz,
  test_finished_at timestamptz,
  test_status integer,
  test_error text,
  last_answer text,
  test_answer text
);

comment on type public.logloom_log_stream is
  'A log stream. secrets: {name: {"set": true}}. status: sending, failing, paused, disabled. '
  'lag_seconds: how long the oldest record that was not sent has waited. paused_at with '
  'pause_reason failing (no success for long), refused (the receiver takes no record) or maker '
  '(who made it is no admin any more). skipped_records: not sent, because streams passed them on '
  'three times already. test_…: of the last test; it is under way while test_finished_at is null. '
  'last_answer, test_answer: the first 500 characters of what the receiver said, where it did not '
  'take what was sent.';

create type public.logloom_log_stream_failure as (
  failure_id uuid,
  stream_id uuid,
  kind text,
  occurred_at timestamptz,
  record_id uuid,
  record_ts timestamptz,
  records integer,
  ts_from timestamptz,
  ts_to timestamptz,
  status integer,
  error text
);

comment on type public.logloom_log_stream_failure is
  'What a stream did not send. refused: the record record_id, which the receiver does not take. '
  'rejected: it took a batch but for so many records, and does not say which. gap: what retention '
  'deleted of [ts_from, ts_to) before it was sent.';

create type public.logloom_claimed_log_stream as (
  stream_id uuid,
  claim_id uuid,
  tenant_id text
);

comment on type public.logloom_claimed_log_stream is 'A stream that has something to send now.';

create type public.logloom_stream_settlement as (
  more boolean
);

comment on type public.logloom_stream_settlement is
  'Whether the claim of a log stream goes on after a batch was settled.';

create type logloom_private.stream_batch as (
  records public.logloom_log_record[],
  end_seq bigint,
  end_id uuid
);

comment on type logloom_private.stream_batch is
  'Records after a stream''s position, in the order in which they became visible, up to a write '
  'sequence and, of that, an id (null: all of it).';
