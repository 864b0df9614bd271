create type public.logloom_alert_preview_entry as (
  window_start timestamptz,
  window_end timestamptz,
  value double precision,
  "group" jsonb
);

comment on type public.logloom_alert_preview_entry is
  'A window in which a rule would have fired; group: for which one, where the rule has by.';

create type public.logloom_alert_preview_point as (
  ts timestamptz,
  value double precision
);

comment on type public.logloom_alert_preview_point is
  'The value of the window that ends at ts; null where it has none.';

create type public.logloom_alert_preview_group as (
  "group" jsonb,
  alerts integer,
  series public.logloom_alert_preview_point[]
);

comment on type public.logloom_alert_preview_group is
  'A group of a rule with by: how often it would have fired, and its value in each window in which '
  'it has one.';

create type public.logloom_alert_preview as (
  ts_from timestamptz,
  ts_to timestamptz,
  step_minutes integer,
  alerts public.logloom_alert_preview_entry[],
  series public.logloom_alert_preview_point[],
  total_alerts integer,
  groups public.logloom_alert_preview_group[],
  total_groups integer,
  crowded_windows integer
);

comment on type public.logloom_alert_preview is
  'When a rule would have fired between ts_from and ts_to, looked at every step_minutes, and the '
  'values that it would have seen. Of a rule with by, series has the greatest value of a window, '
  'groups those that fire most or have the greatest values, and crowded_windows counts windows '
  'with more or longer groups than a rule looks at; of others, the last three are null.';
