create table logloom_private.notifications (
  -- This is also the webhook's id, which is the same in every attempt.
  notification_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid not null,
  alert_id uuid references logloom.alert_history on delete cascade,
  purpose text not null default 'alert',
  channel text not null,
  address text not null,
  body text not null,
  status text not null default 'pending',
  attempts integer not null default 0,
  created_at timestamptz not null default now(),
  -- When the notification is due, or when its claim expires.
  next_attempt_at timestamptz not null default now(),
  expires_at timestamptz not null,
  claim_id uuid,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  settled_at timestamptz,
  incident_id uuid references logloom.alert_incidents on delete set null,
  group_key text not null default '',
  -- The order in which notifications were added: an alert comes before its recovery.
  position bigint generated always as identity,
  template jsonb,
  customer text,
  constraint notifications_purpose_is_known check (
    purpose in ('alert', 'recovery', 'test', 'confirmation', 'stream')
  ),
  constraint notifications_channel_is_known check (
    channel in ('email', 'webhook', 'slack', 'discord', 'teams', 'pagerduty')
  ),
  constraint notifications_status_is_known check (status in ('pending', 'delivered', 'failed')),
  constraint notifications_settlement_is_whole check ((status = 'pending') = (settled_at is null))
);

create index notifications_next_attempt_at_idx
on logloom_private.notifications (next_attempt_at) where status = 'pending';

-- This index is for counting claims.
create index notifications_tenant_id_idx
on logloom_private.notifications (tenant_id) where claim_id is not null;

create index notifications_settled_at_idx
on logloom_private.notifications (settled_at) where status <> 'pending';

create index notifications_alert_id_idx on logloom_private.notifications (alert_id);

create index notifications_tenant_id_rule_id_created_at_idx
on logloom_private.notifications (tenant_id, rule_id, created_at desc, notification_id desc);

-- This index is for counting tests and codes of a tenant.
create index notifications_tenant_id_created_at_idx
on logloom_private.notifications (tenant_id, created_at) where purpose <> 'alert';

create index notifications_incident_id_idx
on logloom_private.notifications (incident_id, created_at desc, notification_id desc);

create index notifications_rule_id_channel_idx
on logloom_private.notifications (rule_id, channel, position) where status = 'pending';

-- This index is for counting a customer's waiting messages.
create index notifications_tenant_id_customer_idx
on logloom_private.notifications (tenant_id, customer, channel)
where status = 'pending' and customer is not null;

comment on table logloom_private.notifications is
  'The outbox: a row for each alert and destination, and for its recovery. Tests, codes that '
  'confirm an address, and mails to owners about a log stream have no alert. For a log stream, '
  'rule_id has its id.';

comment on column logloom_private.notifications.customer is
  'The customer of a portal session whose rule it is about. Null: the tenant''s own.';

comment on column logloom_private.notifications.address is
  'An address that is a secret is sealed: only the function logloom-notify can open it.';

create table logloom_private.notified_alerts (
  notification_id uuid not null references logloom_private.notifications on delete cascade,
  alert_id uuid not null references logloom.alert_history on delete cascade,
  primary key (notification_id, alert_id)
);

create index notified_alerts_alert_id_idx on logloom_private.notified_alerts (alert_id);

comment on table logloom_private.notified_alerts is
  'Further alerts of a notification that collects several groups.';

-- No foreign key to tenants: the rows only count notifications, which have that key.
create table logloom_private.notification_usage (
  tenant_id text not null,
  channel text not null,
  hour timestamptz not null,
  attempts integer not null,
  customer text,
  constraint notification_usage_is_unique
    unique nulls not distinct (tenant_id, channel, hour, customer)
);

comment on table logloom_private.notification_usage is
  'Delivery attempts, by tenant, customer, kind of channel (email, webhook) and clock hour. The '
  'plan limits their number.';

create table logloom_private.notify_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint notify_endpoint_has_one_row check (singleton)
);

insert into logloom_private.notify_endpoint default values;

comment on table logloom_private.notify_endpoint is
  'The URL of the edge function logloom-notify, and the secret with which the database calls it. '
  'The URL of logloom-stream differs only in the name; the secret is the same.';

-- No tenant_id, because the rule has one.
create table logloom_private.webhook_secrets (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  -- In the format of Standard Webhooks until the function logloom-notify has sealed it.
  secret text not null default 'whsec_' || encode(extensions.gen_random_bytes(32), 'base64'),
  previous_secret text,
  previous_valid_until timestamptz,
  changed_at timestamptz not null default now()
);

comment on table logloom_private.webhook_secrets is
  'Secrets that sign a rule''s webhooks. The previous secret also signs until it expires.';

create index webhook_secrets_unsealed_idx on logloom_private.webhook_secrets (changed_at)
where starts_with(secret, 'whsec_') or starts_with(previous_secret, 'whsec_');
