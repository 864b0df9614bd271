-- Sealed records: blocks of a tenant's records as compressed columns. A change of this table needs
-- a new number in blocks/codec/format/block_formats.sql, unless it adds a column that is null in
-- older blocks.
--
-- The records of a block are sorted by service, level, template of the message, ts and id, in
-- collation C. A position is a place in that order, counted from 1. A template is a text with each
-- digit replaced by 0; template and digits restore the text. A run is a stretch of records with the
-- same service and level. Each template is stored once in a run, with the number of its records.

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
  primary key (tenant_id, block_id)
);

create index blocks_tenant_id_last_ts_idx
on logloom_private.blocks (tenant_id, last_ts, first_ts);
-- Blocks that a histogram has to read, and the only ones that may span several days.
create index blocks_holds_counts_idx on logloom_private.blocks (tenant_id, last_ts)
where holds_counts;

create index blocks_damaged_idx on logloom_private.blocks (tenant_id) where damaged_at is not null;

create index blocks_tenant_id_last_write_seq_idx
on logloom_private.blocks (tenant_id, last_write_seq);

-- Blocks of older formats than the last of block_formats(), for rewrite_step. A new format
-- recreates the index.
create index blocks_older_format_idx on logloom_private.blocks (block_id) where format < 1;

create index blocks_block_id_idx on logloom_private.blocks (block_id);
-- With bytes, because the stored bytes are summed up once a minute.
create index blocks_last_ts_idx on logloom_private.blocks (last_ts) include (bytes);

comment on table logloom_private.blocks is
  'Records of days that are over, up to settings.seal_block_records in a row. The columns of a '
  'block are in logloom_private.block_columns. A record is either here or in logloom.logs.';

comment on column logloom_private.blocks.bytes is
  'The compressed size of the block and its columns, without indexes.';

comment on column logloom_private.blocks.weight is
  'The measure that settings.seal_block_bytes limits.';

comment on column logloom_private.blocks.format is
  'How the block is stored: one of logloom_private.block_formats().';

comment on column logloom_private.blocks.holds_counts is
  'True: logloom_private.log_counts does not count these records, so queries count them by '
  'reading the block. For tenants with few records a day. A block that is false has one day.';

comment on column logloom_private.blocks.checksum is
  'logloom_private.block_checksum of the block and its columns.';

comment on column logloom_private.blocks.damaged_at is
  'When a verification found that the checksum differs. Readers skip the block, with a warning. '
  'Null again once a verification finds the block intact.';

comment on column logloom_private.blocks.separator is
  'Ends each template in templates. No message of the block contains it.';

comment on column logloom_private.blocks.run_templates is
  'How many templates a run has; 0 if its records have no message.';

comment on column logloom_private.blocks.run_digits is
  'How many digits come before those of a run''s messages.';

comment on column logloom_private.blocks.templates is
  'The templates of each run, in order, each ended by the separator.';

comment on column logloom_private.blocks.run_words is
  'The words of each run''s templates in lower case, each once, between blanks. Null if they are '
  'not much shorter than the templates.';

comment on column logloom_private.blocks.template_records is
  'How many records have each template, over all runs. These records are adjacent and sorted by '
  'ts. The last position of a template is the sum of the counts up to its own, plus run_records '
  'of the runs without messages before it. ts at its first and last position is when the template '
  'was first and last seen in the block.';

comment on column logloom_private.blocks.offset_records is
  'How many messages come before those of each 16th template, beginning with the first; '
  'offset_digits: how many digits; offset_bytes: how many bytes of templates. A single message is '
  'looked up from there.';

comment on column logloom_private.blocks.digits is
  'The digits of the messages in the order of positions, four bits each.';

comment on column logloom_private.blocks.ts_unit is
  'Microseconds of a step of ts: 1000, or 1 if a record needs it. ts_low, ts_middle, ts_high and '
  'ts_top are 16, 8, 16 and 8 bits of the steps since first_ts, minus 32768, 128, 32768 and 128; '
  'null if all are 0. Steps of a microsecond reach over eight years.';

comment on column logloom_private.blocks.batch_prefixes is
  'The batches of the records: 14 bytes of their ids each. batch_received_at has when each was '
  'received, batch_write_seqs which step of the writer wrote it.';

comment on column logloom_private.blocks.batch_codes is
  'The number of a record''s batch minus 129. With more than 256 batches, wide_batch_codes has '
  'the number itself. Both are null if there is one batch.';

comment on column logloom_private.blocks.id_indexes is
  'The last two bytes of each id, as a signed number.';
