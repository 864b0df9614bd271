-- The writer moves batches from the queue to logloom.logs, each exactly once. A step is one
-- transaction: it inserts the records and stores how far the slot was moved. So a record is visible
-- exactly if its batch counts as moved, even if a process is killed.

create sequence logloom_private.write_seq as bigint;

comment on sequence logloom_private.write_seq is
  'Numbers the steps of the writer, in commit order.';

create table logloom_private.dead_letters (
  id uuid primary key,
  tenant_id text not null,
  ts timestamptz not null,
  received_at timestamptz not null,
  level text,
  msg text,
  service text,
  env text,
  req_id text,
  user_id text,
  route text,
  host text,
  attrs jsonb,
  error_code text not null,
  error_message text not null,
  attempts integer not null default 1,
  failed_at timestamptz not null default now()
);

create index dead_letters_tenant_id_idx on logloom_private.dead_letters (tenant_id);

comment on table logloom_private.dead_letters is
  'Events that could not be written, and why. logloom_private.replay_dead_letters() tries to write '
  'them again.';

comment on column logloom_private.dead_letters.id is 'The id that the record will have.';
