create type public.logloom_log_series as (
  "group" jsonb,
  points jsonb
);

comment on type public.logloom_log_series is
  'An aggregate of a group over time: points [[ts, value], …], one for each bucket, oldest first. '
  'group null: all groups but the largest together.';

create type public.logloom_log_series_answer as (
  interval_seconds bigint,
  series public.logloom_log_series[],
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_series_answer is 'Aggregates over time, for a chart.';
