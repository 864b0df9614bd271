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
  'values: its most frequent values. exact: true if all records that match were looked at, false '
  'for a sample of them.';
