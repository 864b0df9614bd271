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
  'A notification on its way: status is pending, delivered or failed, purpose alert, recovery, '
  'test or confirmation, which is the mail with a code. alert_id is null for all but the first. '
  'While it is pending it is tried at next_attempt_at, and no more after gives_up_at.';

create type public.logloom_notification_address as (
  email text,
  confirmed boolean,
  confirmed_at timestamptz,
  code_expires_at timestamptz,
  tries_left integer
);

comment on type public.logloom_notification_address is
  'An email address of alert rules, in lower case. confirmed: notifications may go there, since '
  'it was confirmed by a code or is a member''s. code_expires_at and tries_left: of a code that '
  'is good.';
