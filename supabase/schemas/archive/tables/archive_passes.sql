create table logloom_private.archive_passes (
  tenant_id text primary key,
  first_day date not null,
  last_day date not null,
  write_seq bigint not null,
  position_ts timestamptz,
  position_id uuid,
  began_at timestamptz not null default clock_timestamp(),
  next_attempt_at timestamptz not null default clock_timestamp(),
  failures integer not null default 0,
  error text,
  constraint archive_passes_days_are_in_order check (first_day <= last_day)
);

create index archive_passes_next_attempt_at_idx
on logloom_private.archive_passes (next_attempt_at);

comment on table logloom_private.archive_passes is
  'Days of a tenant that are being archived, one pass of a tenant at a time: their records up to '
  'write_seq that archived_days does not have yet, in the order of ts and id.';

comment on column logloom_private.archive_passes.position_ts is
  'Up to this record (position_ts, position_id) files were written and verified.';
