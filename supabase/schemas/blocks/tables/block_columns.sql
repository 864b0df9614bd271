create table logloom_private.block_columns (
  block_id bigint not null,
  least bigint,
  greatest bigint,
  first integer not null,
  last integer not null,
  tenant_id text not null,
  name text not null,
  kind text not null,
  dictionary text[] compression lz4,
  counts integer[] compression lz4,
  codes "char"[] compression lz4,
  wide_codes smallint[] compression lz4,
  numbers integer[] compression lz4,
  wide_numbers bigint[] compression lz4,
  texts text[] compression lz4,
  digits bytea compression lz4,
  filter bytea storage external,
  primary key (tenant_id, block_id, name),
  foreign key (tenant_id, block_id)
  references logloom_private.blocks (tenant_id, block_id) on delete cascade,
  constraint block_columns_kind_is_known check (
    kind in ('dictionary', 'numbers', 'templated', 'texts')
  )
);

comment on table logloom_private.block_columns is
  'The values of a field, or of a top-level key of attrs, at positions first to last of a block; '
  'beyond them it has none. A column of nulls is not stored.';

comment on column logloom_private.block_columns.name is
  'A field of logloom_private.column_fields; attrs. and a key, whose values are JSON texts; or '
  'attrs, which holds the keys that are too rare or too long for a column, {} where there are '
  'none, and is null where attrs is null.';

comment on column logloom_private.block_columns.kind is
  'dictionary: values by frequency, counts and codes. numbers: whole numbers. templated: as '
  'dictionary, but of templates; digits holds theirs in the order of code and position. texts: as '
  'they are.';

comment on column logloom_private.block_columns.filter is
  'Of a field with bloom in logloom_private.record_fields, where it has no dictionary or a large '
  'one: bits that tell of a value whether it may be one of the column''s.';

comment on column logloom_private.block_columns.codes is
  'Places in dictionary less 129; in wide_codes, the places themselves, where there are more than '
  '256; both are null where all values are the same.';
