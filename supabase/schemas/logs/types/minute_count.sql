create type logloom_private.minute_count as (
  minute timestamptz,
  events bigint,
  is_other boolean,
  level text,
  service text
);

comment on type logloom_private.minute_count is
  'A row of logloom_private.log_counts, as logloom_private.packed_counts holds it.';
