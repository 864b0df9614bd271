create type logloom_private.ingest_state as (
  tenant_id text,
  key_id uuid,
  plan logloom.plans,
  is_provisioned boolean,
  keeps_from timestamptz,
  takes_to timestamptz,
  max_record_bytes integer,
  max_record_values integer,
  month_end timestamptz,
  events bigint,
  bytes bigint,
  batches bigint,
  queue_is_full boolean,
  headers jsonb,
  service text,
  rules_version text,
  spans_left bigint,
  storage_is_full boolean
);

comment on type logloom_private.ingest_state is
  'A sender and its limits, read once per call for all requests of a caller. keeps_from, takes_to: '
  'the allowed range of ts. events, bytes: used in the month; complete if a limit is near. '
  'batches: how many queued batches may be missing from events and bytes. headers: sent with every '
  'answer; X-Logloom-Writer if pg_cron does not run the writer. service: the only service that the '
  'sender may send for; null: any. rules_version: of the tenant''s ingest rules; null: no rule is '
  'on. spans_left: how many more spans max_span_share allows this month; null: any number. '
  'ingest() subtracts those in the queue.';

create type logloom_private.ingest_answer as (
  body json, headers jsonb, ingested integer, status integer
);

comment on type logloom_private.ingest_answer is
  'The answer to a request: body, headers {name: value}, and how many events it added to the queue '
  '(0 for a repeat). status is 200, or 412 with the tenant''s rules.';

-- A mask of texts: each match of pattern becomes label. check: "card" or "iban" if a match must
-- also have the right check digits.
create type logloom_private.text_mask as (label text, pattern text, flags text, "check" text);
