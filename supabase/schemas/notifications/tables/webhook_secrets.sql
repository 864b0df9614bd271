-- Has no tenant, because the rule has it.
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
