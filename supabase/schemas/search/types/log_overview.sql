create type public.logloom_log_service as (
  service text,
  records bigint,
  errors bigint,
  records_before bigint,
  errors_before bigint,
  last_seen timestamptz
);

comment on type public.logloom_log_service is
  'What a service (null: records without one) sent in a range, and in the same hours of the days '
  'before. last_seen: the minute of its newest record of both; of a range of more than a day, to '
  'its 1,440th part.';

create type public.logloom_log_overview as (
  ts_from timestamptz,
  ts_to timestamptz,
  before_from timestamptz,
  before_to timestamptz,
  total_services bigint,
  services public.logloom_log_service[],
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_overview is
  'The services of [ts_from, ts_to), the largest first, beside [before_from, before_to).';
