create type logloom_private.error_arrival as (
  tenant_id text,
  fingerprint text,
  service text,
  error_type text,
  title text,
  hour timestamptz,
  release text,
  records bigint,
  first_seen timestamptz,
  last_seen timestamptz,
  users bigint[],
  ids uuid[],
  times timestamptz[]
);

comment on type logloom_private.error_arrival is
  'Records of a group that arrived: those of one hour and release. ids and times: up to 20 of '
  'them.';

create type public.logloom_error_group as (
  fingerprint text,
  tenant_id text,
  service text,
  error_type text,
  title text,
  state text,
  first_seen timestamptz,
  last_seen timestamptz,
  records bigint,
  users bigint,
  first_release text,
  last_release text,
  assigned_to text,
  note text,
  ignored_until timestamptz,
  resolved_at timestamptz,
  resolved_release text,
  hours bigint[]
);

comment on type public.logloom_error_group is
  'An error group. state: new (in the last seven days), regressed (likewise), open, resolved or '
  'ignored. records: how many arrived; in a view: how many there are in the range. users: how '
  'many users it touched, about. first_release, last_release: of its records. hours: records in '
  'each of the last 24 hours, the last one is the current one. assigned_to: email address or '
  'user_id.';

create type public.logloom_error_count as (at timestamptz, records bigint);

comment on type public.logloom_error_count is
  'The records of an error group in the hour or UTC day that begins at this time.';

create type public.logloom_error_frame as (line text, is_own boolean);

comment on type public.logloom_error_frame is
  'A call of a stack trace, the innermost first. is_own: not of a runtime or a library.';

create type public.logloom_error_tag as (
  field text,
  value text,
  share double precision,
  share_of_others double precision
);

comment on type public.logloom_error_tag is
  'A value that is more frequent in the group''s records than in other errors. The shares are 0 to '
  '1.';

create type public.logloom_error_release as (
  release text,
  first_seen timestamptz,
  last_seen timestamptz,
  records bigint
);

comment on type public.logloom_error_release is
  'A release in which an error was seen, and its number among the sampled records.';

create type public.logloom_error_group_details as (
  "group" public.logloom_error_group,
  hours public.logloom_error_count[],
  days public.logloom_error_count[],
  stack public.logloom_error_frame[],
  releases public.logloom_error_release[],
  tags public.logloom_error_tag[],
  newest public.logloom_log_record[],
  sampled_records integer,
  merged text[]
);

comment on type public.logloom_error_group_details is
  'An error group with its records by hour (14 days) and by UTC day (a year). Hours and days '
  'without records are left out. stack: the newest stack trace; is_own: not of a library. '
  'releases, tags and newest (at most 10) come from the group''s records among the newest 2000 '
  'errors of a day. sampled_records is their number. merged: the groups that were '
  'merged into this one.';

create type logloom_private.error_event as (
  tenant_id text,
  fingerprint text,
  records bigint,
  ids uuid[],
  times timestamptz[]
);

comment on type logloom_private.error_event is
  'A group that is new or regressed, and up to 20 of the records that made it so.';
