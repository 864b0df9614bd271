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
  storage_is_full boolean
);

comment on type logloom_private.ingest_state is
  'The sender and what holds for it, read once per call for all requests of a caller. keeps_from, '
  'takes_to: the range of ts. events, bytes: used in the month; complete if a limit is near. '
  'batches: the most batches of the queue that they may lack. headers: of every answer: '
  'X-Logloom-Writer if pg_cron does not run the writer. service: the only one that the sender may '
  'send for; null: any.';

create type logloom_private.ingest_answer as (body json, headers jsonb, ingested integer);

comment on type logloom_private.ingest_answer is
  'The answer 200 to a request: body, headers {name: value}, and how many events it added to the '
  'queue (0 for a repeat).';
