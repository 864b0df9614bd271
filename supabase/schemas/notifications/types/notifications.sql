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
  last_error text,
  purpose text,
  gives_up_at timestamptz
);

comment on type public.logloom_alert_delivery is
  'The delivery of a notification. status: pending, delivered or failed. purpose: alert, recovery, '
  'test, or confirmation (a mail with a code). alert_id: null unless the purpose is alert. A '
  'pending delivery is tried again at next_attempt_at, until gives_up_at.';

create type public.logloom_notification_address as (
  email text,
  confirmed boolean,
  confirmed_at timestamptz,
  code_expires_at timestamptz,
  tries_left integer
);

comment on type public.logloom_notification_address is
  'An email address of alert rules, in lower case. confirmed: notifications may be sent there, '
  'because a code confirmed it or a member has it. code_expires_at, tries_left: null without a '
  'valid code.';
