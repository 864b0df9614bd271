create type public.logloom_log_panel as (
  title text,
  query_dsl text,
  kind text,
  width integer
);

comment on type public.logloom_log_panel is
  'A panel of a dashboard. kind: lines (over time), bars (one for each group) or number. width: 1 '
  'to 12 columns of the grid.';

create type public.logloom_log_dashboard as (
  dashboard_id uuid,
  tenant_id text,
  name text,
  is_shared boolean,
  panels public.logloom_log_panel[],
  created_by text,
  created_at timestamptz,
  updated_at timestamptz,
  in_portal boolean,
  variables jsonb
);

comment on type public.logloom_log_dashboard is
  'A dashboard: queries that are shown together, in the order of panels. created_by: the claim sub '
  'of its creator; null in a portal session. variables: values by name that the portal session '
  'pins, if any.';
