create table logloom_private.archive_garbage (
  object_key text primary key,
  tenant_id text not null,
  reason text not null,
  noted_at timestamptz not null default clock_timestamp(),
  next_attempt_at timestamptz not null default clock_timestamp(),
  constraint archive_garbage_reason_is_known check (
    reason in ('erased', 'expired', 'abandoned', 'unknown', 'later')
  )
);

create index archive_garbage_next_attempt_at_idx
on logloom_private.archive_garbage (next_attempt_at);
create index archive_garbage_tenant_id_idx on logloom_private.archive_garbage (tenant_id);

comment on table logloom_private.archive_garbage is
  'Objects of the archive that are to be deleted. A row goes when the bucket has the object no '
  'more. later: a file from after the state that the database was brought back to, which may have '
  'the only copy of records. It stays until next_attempt_at is set.';
