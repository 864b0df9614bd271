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
    kind in ('dictionary', 'hexadecimal', 'numbers', 'templated', 'texts')
  )
);

comment on table logloom_private.block_columns is
  'A column of a block: the values of a field, or of a top-level key of attrs. It covers the '
  'positions first to last; all other positions are null. A column of nulls only is not stored.';

comment on column logloom_private.block_columns.name is
  'One of: a field of logloom_private.column_fields; "attrs." and a key, with JSON texts as '
  'values; or attrs. attrs has the keys that are too rare or too long for a column. {}: no such '
  'key. Null: the record''s attrs is null.';

comment on column logloom_private.block_columns.kind is
  'How the values are stored. dictionary: the distinct values by frequency, with counts and codes. '
  'numbers: whole numbers. templated: like dictionary, but with templates. digits has the digits '
  'of all values, in the order of code and position. hexadecimal: ids of one form. The only '
  'template shows it with f for each digit; digits has the bytes. texts: the values themselves.';

comment on column logloom_private.block_columns.filter is
  'A Bloom filter over the values. Only for fields with bloom in logloom_private.record_fields, if '
  'their dictionary is large or missing.';

comment on column logloom_private.block_columns.codes is
  'The places of values in dictionary, minus 129. If there are more than 256 distinct values, '
  'wide_codes has the places themselves. Both are null if all values are equal.';
