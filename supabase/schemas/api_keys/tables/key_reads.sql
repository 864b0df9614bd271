create table logloom_private.key_reads (
  key_id uuid not null references logloom.api_keys on delete cascade,
  day date not null,
  operation text not null,
  reads bigint not null
)
-- Rows change with every read. Free space on the page saves updates of the index.
with (fillfactor = 50);

create index key_reads_key_id_day_operation_idx
on logloom_private.key_reads (key_id, day, operation);

comment on table logloom_private.key_reads is
  'Reads by API key, UTC day and operation, kept for 31 days. An operation may have several rows, '
  'which add up: a read that finds all rows locked adds one.';
