create table logloom.log_streams (
  stream_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text not null,
  query_dsl text,
  kind text not null,
  config jsonb not null,
  secrets jsonb not null default '{}',
  enabled boolean not null default true,
  view_id uuid,
  maker text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),

  -- Everything up to this position was sent: the records with a write_seq below position_seq, and
  -- those with position_seq and an id up to position_id.
  position_seq bigint not null,
  position_id uuid,
  pending_since timestamptz,
  next_attempt_at timestamptz not null default now(),
  claim_id uuid,
  claimed_at timestamptz,
  claimed_until timestamptz,

  batch_id uuid,
  batch_made_at timestamptz,
  batch_end_seq bigint,
  batch_end_id uuid,
  batch_last_received_at timestamptz,
  batch_records integer,
  batch_skipped integer,
  batch_limit integer not null default 1000,
  batch_bytes integer not null default 1000000,
  batch_size integer,

  attempts integer not null default 0,
  failing_since timestamptz,
  last_success_at timestamptz,
  last_status integer,
  last_error text,
  last_answer text,
  -- True: the receiver accepted something since its address and secrets were last set.
  is_proven boolean not null default false,
  failing_told_at timestamptz,
  refused_in_a_row integer not null default 0,
  paused_at timestamptz,
  pause_reason text,
  kept_day date,

  sent_batches bigint not null default 0,
  sent_records bigint not null default 0,
  skipped_records bigint not null default 0,
  refused_records bigint not null default 0,

  test_id uuid,
  test_requested_at timestamptz,
  test_finished_at timestamptz,
  test_status integer,
  test_error text,
  test_answer text,
  source text not null default 'logs',
  held_at timestamptz,

  constraint log_streams_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 100
  ),
  constraint log_streams_kind_is_known check (
    kind in ('webhook', 'otlp', 'loki', 'elasticsearch', 'splunk_hec', 'datadog', 's3')
  ),
  constraint log_streams_source_is_known check (source in ('logs', 'audit')),
  constraint log_streams_audit_has_no_view check (source <> 'audit' or view_id is null),
  constraint log_streams_pause_reason_is_known check (
    pause_reason in ('failing', 'refused', 'maker')
    and (pause_reason is null) = (paused_at is null)
  ),
  constraint log_streams_batch_is_whole check (
    num_nulls(batch_id, batch_made_at, batch_end_seq, batch_records, batch_skipped) in (0, 5)
  ),
  constraint log_streams_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
)
-- Each batch updates its stream twice.
with (fillfactor = 50);

create index log_streams_tenant_id_created_at_idx
on logloom.log_streams (tenant_id, created_at desc, stream_id desc);
create index log_streams_tenant_id_name_idx on logloom.log_streams (tenant_id, name);
create index log_streams_tenant_id_view_id_idx on logloom.log_streams (tenant_id, view_id);

create policy log_streams_select_tenant on logloom.log_streams
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select (
  stream_id, tenant_id, name, kind, source, enabled, view_id, created_at, updated_at
) on logloom.log_streams to authenticated, service_role;

comment on table logloom.log_streams is
  'Log streams: destinations to which a tenant''s records are sent as they become visible, and the '
  'progress of each.';

comment on column logloom.log_streams.query_dsl is
  'The query for the records to send, without stages. Null: all records.';

comment on column logloom.log_streams.source is
  'logs, or audit (the audit trail). Positions of an audit stream are places in the trail '
  '(logloom_private.audit_place).';

comment on column logloom.log_streams.config is
  'The destination, in the form that its kind needs. Contains no secrets.';

comment on column logloom.log_streams.secrets is
  'The name and the sealed text of each secret. Only the edge function can open a sealed text.';

comment on column logloom.log_streams.maker is
  'The user with whose rights the stream reads: the user who created it, or who enabled it last. '
  'Null: the project itself.';

comment on column logloom.log_streams.name is
  'Unique among the streams of the tenant itself, and among those of each customer '
  '(logloom_private.require_free_stream_name).';

comment on column logloom.log_streams.held_at is
  'When an admin disabled a customer''s stream. Only an admin can enable it again.';

comment on column logloom.log_streams.pending_since is
  'Since when records have been waiting. Null: at the last check none were waiting.';

comment on column logloom.log_streams.batch_id is
  'The current batch; retries keep it. It has the records from the position to batch_end_seq and '
  'batch_end_id (null: all of this write sequence).';

comment on column logloom.log_streams.batch_limit is
  'The maximum number of records in the next batch. Halved when the receiver refuses a batch, '
  'doubled when it accepts one.';

comment on column logloom.log_streams.batch_bytes is
  'The maximum bytes of the next batch. Half of a batch''s bytes when the receiver finds it too '
  'large. Grows by a tenth with each accepted batch.';

comment on column logloom.log_streams.batch_size is
  'The bytes of the current batch when it was last read.';

comment on column logloom.log_streams.last_answer is
  'The receiver''s answer to a batch that it refused: the first 500 characters.';

comment on column logloom.log_streams.is_proven is
  'False: if the receiver refuses records, the stream pauses. True: refused records are skipped.';

comment on column logloom.log_streams.failing_told_at is
  'When owners got a mail that the stream fails. Null while it works.';

comment on column logloom.log_streams.kept_day is
  'The oldest day of the tenant that retention still kept when the stream last read.';
