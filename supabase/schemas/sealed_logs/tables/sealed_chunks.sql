-- Sealed records: chunks of a tenant's records as compressed columns.
--
-- The records of a chunk are sorted by service, level, the message's mask, ts and id, in collation
-- C; a position is a place in that order, 1-based. A mask is a text with each digit replaced by 0:
-- of the same length, and lossless beside the digits. Runs of an equal service and level are
-- sections; in a section each mask is stored once, with how many records have it.

create table logloom_private.sealed_chunks (
  chunk_id bigint generated always as identity,
  first_ts timestamptz not null,
  last_ts timestamptz not null,
  first_arrival bigint not null,
  last_arrival bigint not null,
  first_id uuid not null,
  last_id uuid not null,
  sealed_at timestamptz not null default clock_timestamp(),
  bytes bigint not null,
  records integer not null,
  ts_unit integer not null,
  tenant_id text not null,
  separator text not null,
  section_services text[] not null,
  section_levels text[] not null,
  section_records integer[] not null,
  section_masks integer[] not null,
  section_digits integer[] not null,
  masks text[] compression lz4 not null,
  section_words text[] compression lz4 not null,
  mask_records integer[] compression lz4 not null,
  mark_records integer[] compression lz4 not null,
  mark_digits integer[] compression lz4 not null,
  mark_bytes integer[] compression lz4 not null,
  digits bytea compression lz4 not null,
  ts_low smallint[] compression lz4 not null,
  ts_middle "char"[] compression lz4,
  ts_high smallint[] compression lz4,
  batch_prefixes bytea compression lz4 not null,
  batch_received_at timestamptz[] compression lz4 not null,
  batch_arrivals bigint[] compression lz4 not null,
  batch_codes "char"[] compression lz4,
  wide_batch_codes smallint[] compression lz4,
  id_indexes smallint[] compression lz4 not null,
  weight bigint,
  primary key (tenant_id, chunk_id)
);

create index sealed_chunks_tenant_id_last_ts_idx
on logloom_private.sealed_chunks (tenant_id, last_ts, first_ts);
create index sealed_chunks_tenant_id_last_arrival_idx
on logloom_private.sealed_chunks (tenant_id, last_arrival);

create index sealed_chunks_chunk_id_idx on logloom_private.sealed_chunks (chunk_id);
create index sealed_chunks_last_ts_idx on logloom_private.sealed_chunks (last_ts);

alter table logloom_private.sealed_chunks enable row level security;
alter table logloom_private.sealed_chunks force row level security;

comment on table logloom_private.sealed_chunks is
  'Records of days that are over, up to settings.seal_chunk_records in a row; the columns of a '
  'chunk are in logloom_private.sealed_columns. A record is here or in logloom.logs, not in both.';

comment on column logloom_private.sealed_chunks.bytes is
  'What the chunk and its columns take, compressed, without indexes.';

comment on column logloom_private.sealed_chunks.weight is
  'What settings.seal_chunk_bytes bounds; null where the chunk was made before this column.';

comment on column logloom_private.sealed_chunks.separator is
  'Ends each mask in masks. No message of the chunk holds it.';

comment on column logloom_private.sealed_chunks.section_masks is
  'How many masks a section has; 0 where its records have no message.';

comment on column logloom_private.sealed_chunks.section_digits is
  'How many digits stand before those of a section''s messages.';

comment on column logloom_private.sealed_chunks.masks is
  'Of each section its masks, in order, each ended by the separator.';

comment on column logloom_private.sealed_chunks.section_words is
  'Of each section the words of its masks in lower case, each once, between blanks; null where '
  'they are not far fewer than the masks.';

comment on column logloom_private.sealed_chunks.mask_records is
  'How many records have each mask, over all sections.';

comment on column logloom_private.sealed_chunks.mark_records is
  'How many messages stand before those of each 16th mask, from the first on; mark_digits: how '
  'many digits; mark_bytes: how many bytes of masks. A message is found from there on.';

comment on column logloom_private.sealed_chunks.digits is
  'The digits of the messages in the order of positions, four bits each.';

comment on column logloom_private.sealed_chunks.ts_unit is
  'Microseconds of a step of ts: 1000, or 1 where a record needs it. ts_low, ts_middle and ts_high '
  'are 16, 8 and 16 bits of the steps from first_ts on, less 32768, 128 and 32768; null where all '
  'are 0.';

comment on column logloom_private.sealed_chunks.batch_prefixes is
  'The batches that the records came in: 14 bytes of their ids each. Beside it when each was '
  'received and which step of the writer wrote it.';

comment on column logloom_private.sealed_chunks.batch_codes is
  'The number of a record''s batch less 129; where there are more than 256, it is in '
  'wide_batch_codes; both are null where there is one.';

comment on column logloom_private.sealed_chunks.id_indexes is
  'The last two bytes of each id, as a signed number.';
