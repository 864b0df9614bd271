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
