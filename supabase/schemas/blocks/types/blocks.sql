create type logloom_private.column_values as (texts text[]);

comment on type logloom_private.column_values is
  'The values of a column. An array of this type has the values of several columns.';

create type logloom_private.record_arrays as (
  ts timestamptz[],
  received_at timestamptz[],
  write_seqs bigint[],
  ids uuid[],
  services text[],
  levels text[],
  messages text[],
  attrs jsonb[],
  columns logloom_private.column_values[]
);

comment on type logloom_private.record_arrays is
  'Records as one array for each field. columns has the values of the fields of '
  'logloom_private.column_fields, as texts.';

-- Records of a block that have the same values of some fields, and their numbers of an attribute.
create type logloom_private.block_group as (
  keys text[],
  events bigint,
  numbers bigint,
  total numeric,
  minimum numeric,
  maximum numeric,
  doubles double precision[]
);
