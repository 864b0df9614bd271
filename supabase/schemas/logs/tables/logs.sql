-- Log records in daily partitions, named logs_YYYY_MM_DD, in UTC.

-- Columns of 8 bytes come first: nothing is padded.
create table logloom.logs (
  ts timestamptz not null,
  received_at timestamptz not null,
  write_seq bigint not null,
  id uuid not null,
  tenant_id text not null,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb,
  record_bytes integer,
  primary key (tenant_id, ts, id),
  constraint logs_level_is_known check (level in ('debug', 'info', 'warn', 'error')),
  constraint logs_attrs_is_object check (jsonb_typeof(attrs) = 'object')
)
partition by range (ts);

-- Finds new records: they may have any ts, but are at the end of their partition. Ranges have 4 MB,
-- so that autovacuum has room for all requests for summaries, even at full speed.
create index logs_write_seq_idx on logloom.logs
using brin (write_seq) with (pages_per_range = 512, autosummarize = on);

-- Finds new errors for group_errors.
create index logs_errors_idx on logloom.logs (write_seq) where level = 'error';

-- req_id is the only field that is often searched alone over many days. The index has only its
-- beginning: longer values may not fit.
create index logs_tenant_id_req_id_idx
on logloom.logs (tenant_id, left(req_id, 200))
where req_id is not null;

alter table logloom.logs alter column msg set compression lz4;
alter table logloom.logs alter column attrs set compression lz4;

create policy logs_select_tenant on logloom.logs
for select to authenticated
-- A sharded table allows no subquery in its policies.
using (tenant_id = logloom_private.current_tenant_id());

grant select on logloom.logs to authenticated, service_role;

comment on table logloom.logs is
  'Log records. id is derived from the queued batch and the event''s index. Rows of days without '
  'a partition are refused.';

comment on column logloom.logs.write_seq is
  'The number of the writer''s step that stored the record. Its order is the order of commits.';

comment on column logloom.logs.record_bytes is
  'Bytes of the record''s JSON text as operations return it. Null for records older than this '
  'column. logloom_private.bytes_of_record handles both.';

comment on column logloom.logs.ts is
  'When the event happened, as the client sent it. Without that, received_at.';

comment on column logloom.logs.received_at is
  'When the event was committed to the queue.';
