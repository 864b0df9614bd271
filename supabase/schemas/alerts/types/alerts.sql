create type public.logloom_alert_comparison as enum ('gt', 'gte', 'lt', 'lte', 'eq', 'neq');

comment on type public.logloom_alert_comparison is
  'How a rule compares its value with the threshold.';

create type public.logloom_alert_rule as (
  rule_id uuid,
  tenant_id text,
  name text,
  description text,
  query_dsl text,
  threshold double precision,
  comparison public.logloom_alert_comparison,
  window_minutes integer,
  cooldown_minutes integer,
  enabled boolean,
  notification_destinations text[],
  notification_config jsonb,
  created_at timestamptz,
  updated_at timestamptz,
  last_evaluated_at timestamptz,
  last_value double precision,
  last_error text,
  view_id uuid,
  notify_on_recovery boolean,
  for_minutes integer,
  on_absent text,
  group_wait_seconds integer,
  notification_secrets jsonb,
  baseline jsonb,
  customer text,
  held_at timestamptz,
  kind text,
  late_seconds double precision,
  paused_at timestamptz
);

comment on type public.logloom_alert_rule is
  'An alert rule. Windows and cooldowns are in minutes. view_id: the rule is evaluated within this '
  'view; null: all records. notification_secrets: which secrets are set, such as {"slack_url": '
  '{"set": true}}. late_seconds: how far evaluation is behind; 0 if it is on time. baseline: null, '
  'or {days, deviations, known_days}: the threshold counts deviations from what is usual. While '
  'known_days is less than 3, the rule waits. customer: the customer who made it in a portal '
  'session. held_at: when an admin disabled a customer''s rule. paused_at: when the user who '
  'allowed it lost their role. In both cases only an admin can enable it. kind: query, or '
  'new_error: fires for error groups that are new or regressed.';

create type public.logloom_alert_history_entry as (
  alert_id uuid,
  rule_id uuid,
  tenant_id text,
  triggered_at timestamptz,
  value double precision,
  threshold double precision,
  acknowledged boolean,
  acknowledged_at timestamptz,
  acknowledged_by text,
  notification_sent boolean,
  notification_sent_at timestamptz,
  notification_channels text[],
  notification_error text,
  window_start timestamptz,
  window_end timestamptz,
  "group" jsonb,
  incident_id uuid,
  resolved_at timestamptz,
  silence_id uuid,
  absent boolean
);

comment on type public.logloom_alert_history_entry is
  'An alert: the value that a rule saw, and whether it was acknowledged and delivered. '
  'resolved_at: when its incident ended; null while it is open. silence_id: the silence that '
  'stopped its messages. absent: it fired because its group sent nothing.';

create type public.logloom_alert_incident as (
  incident_id uuid,
  tenant_id text,
  rule_id uuid,
  rule_name text,
  query_dsl text,
  window_minutes integer,
  "group" jsonb,
  state text,
  opened_at timestamptz,
  last_fired_at timestamptz,
  resolved_at timestamptz,
  resolution text,
  fired_count integer,
  value double precision,
  peak_value double precision,
  threshold double precision,
  comparison public.logloom_alert_comparison,
  acknowledged_at timestamptz,
  acknowledged_by text,
  assigned_at timestamptz,
  assigned_by text,
  assigned_to text,
  noted_at timestamptz,
  noted_by text,
  note text
);

comment on type public.logloom_alert_incident is
  'The condition of a rule, or of one group of a rule with by, has held since opened_at. state: '
  'open, acknowledged or resolved. resolution: recovered, still_absent (a silent group is no '
  'longer watched), rule_changed, rule_disabled or rule_deleted; null while it is open. value: of '
  'the last window in which the condition held. peak_value: the value farthest from the '
  'threshold. People (…_by, assigned_to) are shown by their email address, or by their user_id if '
  'it is unknown.';

create type logloom_private.alert_window as (
  rule_id uuid,
  window_start timestamptz,
  window_end timestamptz,
  value double precision,
  error text,
  "group" jsonb,
  absent boolean
);

comment on type logloom_private.alert_window is
  'A window of a rule, or of one of its groups, and its value.';

create type logloom_private.alert_reading as (
  records bigint,
  first_ts timestamptz,
  first_id uuid,
  is_complete boolean
);

comment on type logloom_private.alert_reading is
  'How many records were read, newest first. Also the oldest record that was read, and whether no '
  'older record is left.';

create type logloom_private.alert_band as (
  window_end timestamptz,
  "group" jsonb,
  usual double precision,
  threshold double precision
);

comment on type logloom_private.alert_band is
  'The usual value and the threshold of a window of a rule with a baseline, or of one group.';

create type public.logloom_alert_preview_entry as (
  window_start timestamptz,
  window_end timestamptz,
  value double precision,
  "group" jsonb
);

comment on type public.logloom_alert_preview_entry is
  'A window in which a rule would have fired. group: the group that would have fired, if the rule '
  'has by.';

create type public.logloom_alert_preview_point as (
  ts timestamptz,
  value double precision
);

comment on type public.logloom_alert_preview_point is
  'The value of the window that ends at ts; null if it has none.';

create type public.logloom_alert_preview_band as (
  ts timestamptz,
  usual double precision,
  threshold double precision
);

comment on type public.logloom_alert_preview_band is
  'What is usual for the window that ends at ts, and the threshold. Null while fewer than three '
  'days are known.';

create type public.logloom_alert_preview_group as (
  "group" jsonb,
  alerts integer,
  series public.logloom_alert_preview_point[],
  band public.logloom_alert_preview_band[]
);

comment on type public.logloom_alert_preview_group is
  'A group of a rule with by: how often it would have fired, and its value in each window that '
  'has one.';

create type public.logloom_alert_preview as (
  ts_from timestamptz,
  ts_to timestamptz,
  step_minutes integer,
  alerts public.logloom_alert_preview_entry[],
  series public.logloom_alert_preview_point[],
  total_alerts integer,
  groups public.logloom_alert_preview_group[],
  total_groups integer,
  crowded_windows integer,
  band public.logloom_alert_preview_band[]
);

comment on type public.logloom_alert_preview is
  'When a rule would have fired between ts_from and ts_to, evaluated every step_minutes, and the '
  'values that it would have seen. For a rule with by, series has the highest value of each '
  'window. groups has the groups that fire most or have the highest values. crowded_windows counts '
  'windows with too many or too long groups. For other rules these three are null. band: what is '
  'usual for a rule with a baseline; a rule with by has one for each group.';

create type public.logloom_alert_silence as (
  silence_id uuid,
  tenant_id text,
  matcher jsonb,
  starts_at timestamptz,
  ends_at timestamptz,
  state text,
  comment text,
  created_by text,
  created_at timestamptz,
  expired_at timestamptz,
  expired_by text,
  recurrence jsonb
);

comment on type public.logloom_alert_silence is
  'A time in which matching alerts are not sent. matcher: {rule_id, group}, either, both or none. '
  'state: scheduled, active or expired. recurrence: {days, start, minutes, time_zone}, or null. '
  'ends_at: null for a recurrence without an end, which is active in its occurrences.';
