create type logloom_private.added_count as (
  tenant_id text,
  minute timestamptz,
  service text,
  level text,
  events bigint
);

comment on type logloom_private.added_count is
  'Records that were added, by what logloom_private.log_counts counts them by.';
