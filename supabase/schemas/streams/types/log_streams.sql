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
  customer text,
  held_at timestamptz,
  last_answer text,
  source text,
  test_answer text
);

comment on type public.logloom_log_stream is
  'A log stream. secrets: {name: {"set": true}}. status: sending, failing, paused or disabled. '
  'lag_seconds: how long the oldest unsent record has waited. pause_reason: failing (no success '
  'for too long), refused (the receiver accepts no record) or maker (its maker is no longer an '
  'admin). customer: the customer who made it in a portal session; they do not see view_id and '
  'maker. held_at: when an admin disabled a customer''s stream, which only an admin can enable '
  'again. source: logs, or audit (the audit trail). skipped_records: not sent, because streams '
  'forwarded them three times. test_…: the last test, which runs while test_finished_at is null. '
  'last_answer, test_answer: the first 500 characters of the receiver''s answer, if it did not '
  'accept everything.';

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
  'What a stream did not send. refused: the record record_id, which the receiver does not accept. '
  'rejected: the receiver accepted a batch except for some records and does not say which. gap: '
  'records of [ts_from, ts_to) that retention deleted before they were sent.';

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
  'more: true if the sender still holds its claim of the log stream after it settled a batch.';

create type logloom_private.stream_batch as (
  records public.logloom_log_record[],
  end_seq bigint,
  end_id uuid
);

comment on type logloom_private.stream_batch is
  'Records after a stream''s position, in the order in which they became visible. end_seq is the '
  'last write_seq. end_id is the last record with it; null: all records with it.';
