create table logloom_private.notification_addresses (
  tenant_id text not null references logloom.tenants on delete cascade,
  -- The address in lower case: that is how addresses are compared.
  mailbox text not null,
  confirmed_at timestamptz,
  confirmed_by text,
  -- Of the last code that was mailed, salted and slow to compute. The code itself is kept nowhere.
  code_hash text,
  code_expires_at timestamptz,
  -- Wrong tries of that code.
  tries integer not null default 0,
  primary key (tenant_id, mailbox),
  constraint notification_addresses_mailbox_is_lower_case check (mailbox = lower(mailbox)),
  constraint notification_addresses_code_lapses check (
    (code_hash is null) = (code_expires_at is null)
  )
);

comment on table logloom_private.notification_addresses is
  'Email addresses that were mailed a code for a tenant, and those that were confirmed by it.';

-- No tenant: what one sent to a mailbox counts after it was deleted, too.
create table logloom_private.confirmation_mails (
  mailbox_digest bytea not null,
  sent_at timestamptz not null default clock_timestamp()
);

create index confirmation_mails_mailbox_digest_sent_at_idx
on logloom_private.confirmation_mails (mailbox_digest, sent_at);

create index confirmation_mails_sent_at_idx on logloom_private.confirmation_mails (sent_at);

comment on table logloom_private.confirmation_mails is
  'A row for each mail with a code, for as long as it counts towards what a mailbox may get.';
