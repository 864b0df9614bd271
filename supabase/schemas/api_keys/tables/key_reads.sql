create table logloom_private.key_reads (
  key_id uuid not null references logloom.api_keys on delete cascade,
  day date not null,
  operation text not null,
  reads bigint not null
)
-- A row changes with every read: room on the page keeps that out of the index.
with (fillfactor = 50);

create index key_reads_key_id_day_operation_idx
on logloom_private.key_reads (key_id, day, operation);

comment on table logloom_private.key_reads is
  'What was answered to an API key, by UTC day and operation, for 31 days. Several rows of one '
  'operation are summed up: each was held when a read beside it was counted.';
