create table logloom_private.notification_addresses (
  tenant_id text not null references logloom.tenants on delete cascade,
  -- Stored in lower case, because addresses are compared without case.
  mailbox text not null,
  confirmed_at timestamptz,
  confirmed_by text,
  -- Hash of the last code that was mailed, salted and slow to compute. The code itself is not
  -- stored.
  code_hash text,
  code_expires_at timestamptz,
  -- Wrong attempts for that code.
  tries integer not null default 0,
  customer text,
  constraint notification_addresses_are_unique
    unique nulls not distinct (tenant_id, customer, mailbox),
  constraint notification_addresses_mailbox_is_lower_case check (mailbox = lower(mailbox)),
  constraint notification_addresses_code_lapses check (
    (code_hash is null) = (code_expires_at is null)
  )
);

comment on table logloom_private.notification_addresses is
  'Email addresses to which a code was mailed for a tenant or for one of its customers, and which '
  'of them are confirmed.';

-- Has no tenant, because mails count even after their tenant was deleted.
create table logloom_private.confirmation_mails (
  mailbox_digest bytea not null,
  sent_at timestamptz not null default clock_timestamp()
);

create index confirmation_mails_mailbox_digest_sent_at_idx
on logloom_private.confirmation_mails (mailbox_digest, sent_at);

create index confirmation_mails_sent_at_idx on logloom_private.confirmation_mails (sent_at);

comment on table logloom_private.confirmation_mails is
  'A row for each mail with a code, kept as long as it counts towards the limit of the mailbox.';
