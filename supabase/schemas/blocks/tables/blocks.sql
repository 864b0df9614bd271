-- Sealed records: blocks of a tenant's records as compressed columns. A change of this table needs
-- a new number in blocks/codec/format/block_formats.sql. A new column that is null in older blocks
-- needs none.
--
-- The records of a block are sorted by service, level, template of the message, ts and id, in
-- collation C. These words are used for a block:
--   position  a place in this order, counted from 1
--   template  a text with each digit replaced by 0; template and digits restore the text
--   run       adjacent records with the same service and level. A run stores each template once,
--             with the number of its records.

create table logloom_private.blocks (
  block_id bigint generated always as identity,
  first_ts timestamptz not null,
  last_ts timestamptz not null,
  first_write_seq bigint not null,
  last_write_seq bigint not null,
  first_id uuid not null,
  last_id uuid not null,
  sealed_at timestamptz not null default clock_timestamp(),
  bytes bigint not null,
  records integer not null,
  ts_unit integer not null,
  format smallint not null,
  holds_counts boolean not null,
  tenant_id text not null,
  separator text not null,
  run_services text[] not null,
  run_levels text[] not null,
  run_records integer[] not null,
  run_templates integer[] not null,
  run_digits integer[] not null,
  templates text[] compression lz4 not null,
  run_words text[] compression lz4 not null,
  template_records integer[] compression lz4 not null,
  offset_records integer[] compression lz4 not null,
  offset_digits integer[] compression lz4 not null,
  offset_bytes integer[] compression lz4 not null,
  digits bytea compression lz4 not null,
  ts_low smallint[] compression lz4 not null,
  ts_middle "char"[] compression lz4,
  ts_high smallint[] compression lz4,
  ts_top "char"[] compression lz4,
  batch_prefixes bytea compression lz4 not null,
  batch_received_at timestamptz[] compression lz4 not null,
  batch_write_seqs bigint[] compression lz4 not null,
  batch_codes "char"[] compression lz4,
  wide_batch_codes smallint[] compression lz4,
  id_indexes smallint[] compression lz4 not null,
  checksum bytea not null,
  weight bigint not null,
  damaged_at timestamptz,
  kept_days integer,
  primary key (tenant_id, block_id)
);

create index blocks_tenant_id_last_ts_idx
on logloom_private.blocks (tenant_id, last_ts, first_ts);
-- Finds the blocks that a histogram has to read. Only these blocks may span several days.
create index blocks_holds_counts_idx on logloom_private.blocks (tenant_id, last_ts)
where holds_counts;

create index blocks_damaged_idx on logloom_private.blocks (tenant_id) where damaged_at is not null;

create index blocks_tenant_id_last_write_seq_idx
on logloom_private.blocks (tenant_id, last_write_seq);

-- Finds blocks of older formats, for rewrite_step. A new format recreates the index.
create index blocks_older_format_idx on logloom_private.blocks (block_id) where format < 1;

create index blocks_block_id_idx on logloom_private.blocks (block_id);
-- Includes bytes, because a job adds up the stored bytes once a minute.
create index blocks_last_ts_idx on logloom_private.blocks (last_ts) include (bytes);

comment on table logloom_private.blocks is
  'Records of past days, up to settings.seal_block_records in a block. The columns of a block are '
  'in logloom_private.block_columns. A record is either here or in logloom.logs.';

comment on column logloom_private.blocks.bytes is
  'The compressed size of the block and its columns, without indexes.';

comment on column logloom_private.blocks.weight is
  'How much the block counts towards settings.seal_block_bytes when blocks are merged.';

comment on column logloom_private.blocks.format is
  'How the block is stored: one of logloom_private.block_formats().';

comment on column logloom_private.blocks.holds_counts is
  'True, for tenants with few records a day: logloom_private.log_counts does not count these '
  'records. Queries read the block to count them. False: log_counts counts the records, and all '
  'are of one day.';

comment on column logloom_private.blocks.checksum is
  'logloom_private.block_checksum of the block and its columns.';

comment on column logloom_private.blocks.damaged_at is
  'When a verification found that the checksum differs. Readers skip the block, with a warning. '
  'Null again when a verification finds the block intact.';

comment on column logloom_private.blocks.kept_days is
  'The days that a retention rule gave the records at their sealing. Null: the tenant''s '
  'retention.';

comment on column logloom_private.blocks.separator is
  'Ends each template in templates. No message of the block contains it.';

comment on column logloom_private.blocks.run_templates is
  'For each run: its number of templates; 0 if its records have no message.';

comment on column logloom_private.blocks.run_digits is
  'For each run: how many digits come before the digits of its messages.';

comment on column logloom_private.blocks.templates is
  'The templates of each run, in order, each ended by the separator.';

comment on column logloom_private.blocks.run_words is
  'For each run: the words of its templates in lower case, each once, between blanks. Null if they '
  'are not much shorter than the templates.';

comment on column logloom_private.blocks.template_records is
  'For each template of each run: its number of records. These are adjacent and sorted by ts: the '
  'first and last position tell when it was first and last seen. The last position is the sum of '
  'the counts so far, plus run_records of earlier runs without messages.';

comment on column logloom_private.blocks.offset_records is
  'For looking up a single message: how many messages come before template 1, 17, 33 …. '
  'offset_digits: how many digits. offset_bytes: how many bytes of templates.';

comment on column logloom_private.blocks.digits is
  'The digits of the messages in the order of positions, four bits each.';

comment on column logloom_private.blocks.ts_unit is
  'The unit of ts in microseconds: 1000, or 1 if a record needs it. A record''s ts is first_ts '
  'plus a number of units. That number is split over four columns, lowest bits first: ts_low (16 '
  'bits), ts_middle (8), ts_high (16), ts_top (8). Each is stored minus half of its range. Except '
  'for ts_low, a column is null if all its bits are 0.';

comment on column logloom_private.blocks.batch_prefixes is
  'The ids of the batches of the records, 14 bytes each: the last 16 bits of a batch id are 0. '
  'batch_received_at and batch_write_seqs give each batch''s time of receipt and write sequence.';

comment on column logloom_private.blocks.batch_codes is
  'For each record: the number of its batch, minus 129. With more than 256 batches, '
  'wide_batch_codes has the number itself. Both are null if there is one batch.';

comment on column logloom_private.blocks.id_indexes is
  'For each record: the last two bytes of its id, as a signed number.';
