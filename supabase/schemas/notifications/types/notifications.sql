create type public.logloom_alert_delivery as (
  delivery_id uuid,
  alert_id uuid,
  rule_id uuid,
  channel text,
  status text,
  attempts integer,
  created_at timestamptz,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz,
  delivered_at timestamptz,
  last_status integer,
  last_error text
);

comment on type public.logloom_alert_delivery is
  'A notification on its way: status is pending, delivered or failed. alert_id is null for a test.';
