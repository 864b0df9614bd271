create type public.logloom_log_change as (
  kind text,
  field text,
  value text,
  before bigint,
  after bigint,
  change text,
  score double precision
);

comment on type public.logloom_log_change is
  'How often records had a value of a field, or a message of a pattern, in a range (after) and in '
  'the one before it. kind: pattern or value. change: new, gone, grown or shrunk, by the share of '
  'the records. score: how surprising that is (G-squared of Dunning).';

create type public.logloom_log_changes as (
  ts_from timestamptz,
  ts_to timestamptz,
  before_from timestamptz,
  records bigint,
  records_before bigint,
  changes public.logloom_log_change[],
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_changes is
  'What differs in [ts_from, ts_to) from [before_from, ts_from), the most surprising first.';

create type public.logloom_log_export as (
  text text,
  records integer,
  cursor text,
  next_cursor text,
  logs json
);

comment on type public.logloom_log_export is
  'A page of an export: text, its lines, each with its end, or logs, its records; records, how '
  'many they are. cursor: of its beginning; next_cursor: of the page after it, null where there '
  'is none.';

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
  rows_sql logloom_private.sql_source,
  count_sql text,
  keys_sql text[],
  has_numbers boolean
);

comment on type logloom_private.counted_source is
  'Where an aggregate reads: rows of the alias l, and what count() is over them. '
  'keys_sql: what it is grouped by, where this is not by_sql of the query. has_numbers: it has '
  'numbers, total, minimum and maximum, and double in place of the attribute.';

create type public.logloom_log_record as (
  -- fields shown joined: {name} {type}
  id uuid, tenant_id text, ts timestamptz, received_at timestamptz, level text, msg text,
  service text, env text, req_id text, user_id text, route text, host text, attrs jsonb
  -- fields end
);

comment on type public.logloom_log_record is
  'A log record. Members that the event did not have are null.';

create type public.logloom_log_page as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_page is
  'Records of [ts_from, ts_to), and the cursor of the next page; null where this is the last, '
  'and there only: a page may end early. '
  'warnings: what the query probably means otherwise.';

create type logloom_private.log_tail as (
  "first" bigint,
  id uuid,
  logs public.logloom_log_record[],
  more boolean
);

comment on type logloom_private.log_tail is
  'Where a tail stands: it goes on with the write_seq first, of which it saw what is up to id, and '
  'has found logs since. more: whether there is more to look at.';
