create type public.logloom_log_field_value as (value text, count bigint);

comment on type public.logloom_log_field_value is
  'A value of a field, and how many records have it.';

create type public.logloom_log_field as (
  field text,
  type text,
  count bigint,
  values public.logloom_log_field_value[],
  exact boolean,
  records bigint
);

comment on type public.logloom_log_field is
  'A field as a query names it. type: string, number, boolean, array, timestamp, uuid or mixed. '
  'records: how many records were looked at. count: in how many of these the field was found. '
  'values: its most frequent values. exact: true if all matching records were looked at, false for '
  'a sample.';

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
  'How many records had a value of a field, or a pattern: in a range (after), and in the range '
  'that it is compared with (before). kind: pattern or value. change: new, gone, grown or shrunk, '
  'as a share of the records. score: how unlikely the change is by chance (Dunning''s G-squared).';

create type public.logloom_log_changes as (
  ts_from timestamptz,
  ts_to timestamptz,
  before_from timestamptz,
  records bigint,
  records_before bigint,
  changes public.logloom_log_change[],
  warnings public.logloom_query_warning[],
  before_to timestamptz
);

comment on type public.logloom_log_changes is
  'What changed from [before_from, before_to) to [ts_from, ts_to), the most significant first.';

create type public.logloom_log_export as (
  text text,
  records integer,
  cursor text,
  next_cursor text,
  logs json
);

comment on type public.logloom_log_export is
  'A page of an export. Either text has its lines, with line ends, or logs has its records. '
  'records: the number of records. cursor: of this page. next_cursor: of the next page, null if '
  'there is none.';

create type public.logloom_log_service as (
  service text,
  records bigint,
  errors bigint,
  records_before bigint,
  errors_before bigint,
  last_seen timestamptz,
  errors_before_lately bigint,
  errors_over_time bigint[],
  records_before_lately bigint,
  records_over_time bigint[]
);

comment on type public.logloom_log_service is
  'The records and errors of a service (null: no service), in a range and in the same hours of the '
  'days before. last_seen: the minute of the newest record. In a range of N days: exact to N '
  'minutes. errors_over_time, records_over_time: in 24 equal parts of the range. …_before_lately: '
  'in the last of these parts of the range before.';

create type public.logloom_log_overview as (
  ts_from timestamptz,
  ts_to timestamptz,
  before_from timestamptz,
  before_to timestamptz,
  total_services bigint,
  services public.logloom_log_service[],
  warnings public.logloom_query_warning[],
  silent_hosts text[]
);

comment on type public.logloom_log_overview is
  'The services of [ts_from, ts_to), compared with [before_from, before_to). The largest comes '
  'first. silent_hosts: hosts with seven or more records in the last 24th of the range before, and '
  'none now. Null if hosts are hidden or have too many records.';

create type public.logloom_log_series as (
  "group" jsonb,
  points jsonb
);

comment on type public.logloom_log_series is
  'An aggregate of a group over time: points [[ts, value], …], one for each bucket, oldest first. '
  'group null: all other groups together.';

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
  'The aggregates of a group. group: {field: text}. The text is null for records without the '
  'field; ts is the beginning of a bucket. value: the result of the last math, or else the first '
  'aggregate. values: all results by name. total_groups: how many rows there would be without '
  'p_limit and the stage limit. warnings: parts of the query that probably mean something else, '
  'the same in each row.';

create type logloom_private.counted_source as (
  rows_sql logloom_private.sql_source,
  count_sql text,
  keys_sql text[],
  has_numbers boolean
);

comment on type logloom_private.counted_source is
  'The source of an aggregate: rows (alias l), and the SQL of count() over them. keys_sql: the '
  'group expressions, if the rows come from groups_source. has_numbers: true if the rows have '
  'numbers instead of the attribute.';

create type public.logloom_log_record as (
  -- fields shown joined: {name} {type}
  id uuid, tenant_id text, ts timestamptz, received_at timestamptz, level text, msg text,
  service text, env text, req_id text, user_id text, route text, host text, attrs jsonb
  -- fields end
);

comment on type public.logloom_log_record is
  'A log record. Fields that the event did not have are null.';

create type public.logloom_log_page as (
  logs public.logloom_log_record[],
  next_cursor text,
  ts_from timestamptz,
  ts_to timestamptz,
  warnings public.logloom_query_warning[]
);

comment on type public.logloom_log_page is
  'Records of [ts_from, ts_to), and the cursor of the next page. Any page may have fewer records '
  'than p_limit; only the last page has the cursor null. warnings: parts of the query that '
  'probably mean something else.';

create type logloom_private.log_tail as (
  "first" bigint,
  id uuid,
  logs public.logloom_log_record[],
  more boolean
);

comment on type logloom_private.log_tail is
  'The position of a tail, and the records found. The tail continues with the write sequence '
  '"first"; if id is set, after this id. more: true if there is more to read.';
