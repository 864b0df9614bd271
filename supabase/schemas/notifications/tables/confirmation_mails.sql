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
