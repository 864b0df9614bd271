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
  expired_by text
);

comment on type public.logloom_alert_silence is
  'For a time nothing is sent of alerts that match. matcher: {rule_id, group}, either or none. '
  'state: scheduled, active or expired.';
