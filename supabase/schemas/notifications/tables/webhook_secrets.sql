-- No foreign key to the rule's tenant: the rule has it.
create table logloom_private.webhook_secrets (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  -- In the form of Standard Webhooks.
  secret text not null default 'whsec_' || encode(extensions.gen_random_bytes(32), 'base64'),
  previous_secret text,
  previous_valid_until timestamptz
);

comment on table logloom_private.webhook_secrets is
  'What a rule''s webhooks are signed with. The previous secret signs, too, until it lapses.';
