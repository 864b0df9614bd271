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
  'Who sends, and what holds for it: read once a call, for all requests of a caller in it. '
  'keeps_from, takes_to: in which range ts may lie. events, bytes: what is known to be used of the '
  'month, all of it where a limit is near. batches: how many at most the queue has that are not '
  'counted there. headers: what every answer to ingest has: X-Logloom-Writer where pg_cron does '
  'not run the writer. service: the only one that the sender may send for; null: any.';

create type logloom_private.ingest_answer as (body json, headers jsonb, ingested integer);

comment on type logloom_private.ingest_answer is
  'The 200 of a request: its body, its headers {name: value}, and how many events it added to the '
  'queue, 0 for a repeat.';
