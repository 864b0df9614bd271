-- Sealed records: blocks of a tenant's records as compressed columns. What changes here beyond what
-- is null in older blocks needs a new number in blocks/codec/format/block_formats.sql.
--
-- The records of a block are sorted by service, level, the message's template, ts and id, in
-- collation C; a position is a place in that order, 1-based. A template is a text with each digit
-- replaced by 0: of the same length, and lossless beside the digits. Runs of an equal service and
-- level are runs; in a run each template is stored once, with how many records have it.

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
-- Blocks that a histogram has to read, and those that may be of more than a day.
create index blocks_holds_counts_idx on logloom_private.blocks (tenant_id, last_ts)
where holds_counts;

create index blocks_damaged_idx on logloom_private.blocks (tenant_id) where damaged_at is not null;

create index blocks_tenant_id_last_write_seq_idx
on logloom_private.blocks (tenant_id, last_write_seq);

-- Blocks of older formats than the last of block_formats(), which rewrite_step looks for: a new
-- format makes it anew.
create index blocks_older_format_idx on logloom_private.blocks (block_id) where format < 1;

create index blocks_block_id_idx on logloom_private.blocks (block_id);
-- With bytes, because what is stored is summed up once a minute.
create index blocks_last_ts_idx on logloom_private.blocks (last_ts) include (bytes);

comment on table logloom_private.blocks is
  'Records of days that are over, up to settings.seal_block_records in a row; the columns of a '
  'block are in logloom_private.block_columns. A record is here or in logloom.logs, not in both.';

comment on column logloom_private.blocks.bytes is
  'What the block and its columns take, compressed, without indexes.';

comment on column logloom_private.blocks.weight is
  'What settings.seal_block_bytes bounds.';

comment on column logloom_private.blocks.format is
  'How the block is stored: one of logloom_private.block_formats().';

comment on column logloom_private.blocks.holds_counts is
  'Its records are in no count of logloom_private.log_counts: they are counted by reading them. So '
  'it is with tenants that have few records a day; a block without it is of one day.';

comment on column logloom_private.blocks.checksum is
  'logloom_private.block_checksum of the block and its columns, of all values but block_id, '
  'sealed_at, bytes and damaged_at.';

comment on column logloom_private.blocks.damaged_at is
  'When a verification found that the checksum differs. Whoever reads leaves the block out, with a '
  'warning; null again when a verification finds the block as it was stored.';

comment on column logloom_private.blocks.separator is
  'Ends each template in templates. No message of the block holds it.';

comment on column logloom_private.blocks.run_templates is
  'How many templates a run has; 0 where its records have no message.';

comment on column logloom_private.blocks.run_digits is
  'How many digits stand before those of a run''s messages.';

comment on column logloom_private.blocks.templates is
  'Of each run its templates, in order, each ended by the separator.';

comment on column logloom_private.blocks.run_words is
  'Of each run the words of its templates in lower case, each once, between blanks; null where '
  'they are not far fewer than the templates.';

comment on column logloom_private.blocks.template_records is
  'How many records have each template, over all runs. They stand one after another, by ts: a '
  'template''s last position is the sum of these counts up to its own and of run_records of the '
  'runs without messages before it, and ts at its first and last position is when the template '
  'was first and last seen in the block.';

comment on column logloom_private.blocks.offset_records is
  'How many messages stand before those of each 16th template, from the first on; offset_digits: '
  'how many digits; offset_bytes: how many bytes of templates. A message is found from there on.';

comment on column logloom_private.blocks.digits is
  'The digits of the messages in the order of positions, four bits each.';

comment on column logloom_private.blocks.ts_unit is
  'Microseconds of a step of ts: 1000, or 1 where a record needs it. ts_low, ts_middle, '
  'ts_high and ts_top are 16, 8, 16 and 8 bits of the steps from first_ts on, less 32768, 128, '
  '32768 and 128; null where all are 0. Microseconds so reach over eight years.';

comment on column logloom_private.blocks.batch_prefixes is
  'The batches that the records came in: 14 bytes of their ids each. Beside it when each was '
  'received and which step of the writer wrote it.';

comment on column logloom_private.blocks.batch_codes is
  'The number of a record''s batch less 129; where there are more than 256, it is in '
  'wide_batch_codes; both are null where there is one.';

comment on column logloom_private.blocks.id_indexes is
  'The last two bytes of each id, as a signed number.';
