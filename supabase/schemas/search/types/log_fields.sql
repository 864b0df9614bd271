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
  'A field as a query names it; type: string, number, boolean, array, timestamp, uuid or mixed; '
  'of how many records that were looked at (records) it was found in count, and its most frequent '
  'values. exact: all records that match were looked at, else a sample of them.';
