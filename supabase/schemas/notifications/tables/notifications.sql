create table logloom_private.notifications (
  -- The webhook's id, in every attempt.
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
  -- When it is due. Of one that is claimed: when the claim has lapsed.
  next_attempt_at timestamptz not null default now(),
  expires_at timestamptz not null,
  claim_id uuid,
  last_attempt_at timestamptz,
  last_status integer,
  last_error text,
  settled_at timestamptz,
  constraint notifications_purpose_is_known check (
    purpose in ('alert', 'test', 'confirmation', 'stream')
  ),
  constraint notifications_channel_is_known check (channel in ('email', 'webhook')),
  constraint notifications_status_is_known check (status in ('pending', 'delivered', 'failed')),
  constraint notifications_settlement_is_whole check ((status = 'pending') = (settled_at is null))
);

create index notifications_next_attempt_at_idx
on logloom_private.notifications (next_attempt_at) where status = 'pending';

-- What is under way: counted at each claim.
create index notifications_tenant_id_idx
on logloom_private.notifications (tenant_id) where claim_id is not null;

create index notifications_settled_at_idx
on logloom_private.notifications (settled_at) where status <> 'pending';

create index notifications_alert_id_idx on logloom_private.notifications (alert_id);

create index notifications_tenant_id_rule_id_created_at_idx
on logloom_private.notifications (tenant_id, rule_id, created_at desc, notification_id desc);

-- What a tenant asked for itself is counted.
create index notifications_tenant_id_created_at_idx
on logloom_private.notifications (tenant_id, created_at) where purpose <> 'alert';

comment on table logloom_private.notifications is
  'The outbox: one row for an alert and a destination, for a test or a code that confirms an '
  'address, which have no alert, or to an owner of a log stream that was paused, which is rule_id.';
