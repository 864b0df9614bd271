-- Log records in daily partitions, named logs_YYYY_MM_DD, days of UTC.

-- The columns of 8 bytes stand first: nothing is padded.
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

-- What became visible since: a new record may have any ts, but lies at the end of its partition.
-- Ranges of 4 MB, so that a writer at full speed does not ask for more summaries than autovacuum
-- remembers.
create index logs_write_seq_idx on logloom.logs
using brin (write_seq) with (pages_per_range = 512, autosummarize = on);

-- The one field that is asked for by itself over many days. Its beginning only: an index refuses
-- what is longer than a third of a page.
create index logs_tenant_id_req_id_idx
on logloom.logs (tenant_id, left(req_id, 200))
where req_id is not null;

alter table logloom.logs alter column msg set compression lz4;
alter table logloom.logs alter column attrs set compression lz4;

create policy logs_select_tenant on logloom.logs
for select to authenticated
-- No subquery, which would be evaluated once: a table that is sharded takes none in its
-- policies. No operation reads through this one.
using (tenant_id = logloom_private.current_tenant_id());

grant select on logloom.logs to authenticated, service_role;

comment on table logloom.logs is
  'Log records. id derives from the queued batch and the event''s index. Days without a partition '
  'refuse rows.';

comment on column logloom.logs.write_seq is
  'Number of the writer''s step that made the record visible. Its order is commit order.';

comment on column logloom.logs.record_bytes is
  'Bytes of the record''s JSON text as operations answer it; null where it came before this '
  'column. logloom_private.bytes_of_record says either.';

comment on column logloom.logs.ts is
  'When it happened, as the client says; received_at where it does not.';

comment on column logloom.logs.received_at is 'When it was committed to the queue.';
