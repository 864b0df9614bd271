create type public.logloom_log_stat as (
  "group" jsonb,
  value double precision,
  "values" jsonb,
  total_groups bigint,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_stat is
  'What aggregates say of a group: group {field: text}, null where records lack the field, ts for '
  'the beginning of a bucket; value, the first aggregate; values, all of them by name; '
  'total_groups, how many rows there are without p_limit and limit; warnings, what the query '
  'probably means otherwise, the same in each row.';

create type logloom_private.counted_source as (
  rows_sql text,
  count_sql text,
  keys_sql text[],
  has_numbers boolean
);

comment on type logloom_private.counted_source is
  'Where an aggregate reads: SQL from "from" on with the alias l, and what count() is over it. '
  'keys_sql: what it is grouped by, where this is not by_sql of the query. has_numbers: it has '
  'numbers, total, minimum and maximum, and double in place of the attribute.';
