create table logloom_private.archive_bucket (
  singleton boolean primary key default true,
  installation_id uuid not null default gen_random_uuid(),
  bucket text,
  prefix text,
  checked_at timestamptz,
  problem text,
  planned_at timestamptz,
  planned_through text,
  compared_at timestamptz,
  compared_through text,
  restored_at timestamptz,
  note_key bytea not null default extensions.gen_random_bytes(32),
  constraint archive_bucket_has_one_row check (singleton)
);

insert into logloom_private.archive_bucket default values;

comment on table logloom_private.archive_bucket is
  'The state of the archive''s bucket, and the progress of planning and comparing.';

comment on column logloom_private.archive_bucket.installation_id is
  'Identifies the owner of the files. It is stored in <prefix>/logloom.json: two installations '
  'cannot share a prefix.';

comment on column logloom_private.archive_bucket.bucket is
  'The bucket of the last check. prefix, checked_at and problem belong to the same check.';

comment on column logloom_private.archive_bucket.problem is
  'What the last check of the bucket found wrong. Nothing is archived until it is null.';

comment on column logloom_private.archive_bucket.planned_through is
  'The last tenant that the current round of planning has finished. Null if no round is running.';

comment on column logloom_private.archive_bucket.compared_through is
  'The last key that the current comparison with archive_parts has finished. Null if none is '
  'running.';

comment on column logloom_private.archive_bucket.restored_at is
  'When compare_archive_anew() last ran, after a restore. Files that the bucket had at this time, '
  'but that the database does not know, are newer than the restored state. They are kept.';

comment on column logloom_private.archive_bucket.note_key is
  'Signs the notes of erasures: access to the bucket is not enough to erase records here.';

create table logloom_private.archive_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint archive_endpoint_has_one_row check (singleton)
);

insert into logloom_private.archive_endpoint default values;

comment on table logloom_private.archive_endpoint is
  'The URL of the edge function logloom-archive, and the secret that it expects.';

create table logloom_private.archive_claims (
  claim_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  kind text not null,
  part_id uuid,
  run_id uuid,
  object_key text,
  records integer,
  first_ts timestamptz,
  last_ts timestamptz,
  last_id uuid,
  claimed_at timestamptz not null default clock_timestamp(),
  -- Longer than any file takes. After this time another call takes over the work.
  expires_at timestamptz not null default clock_timestamp() + interval '5 minutes',
  constraint archive_claims_kind_is_known check (
    kind in (
      'adopt', 'check', 'compare', 'delete', 'erase', 'note', 'recall', 'restore', 'write'
    )
  )
);

create unique index archive_claims_tenant_id_idx on logloom_private.archive_claims (tenant_id);

comment on table logloom_private.archive_claims is
  'Work that the function logloom-archive has claimed until expires_at. At most one claim for each '
  'tenant, and one for the bucket (empty tenant_id).';

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
  'Objects of the archive to delete. A row is deleted once the object is gone from the bucket. '
  'reason later: the file is newer than the restored database and may be the only copy of its '
  'records. It stays until next_attempt_at (infinity) is set to a time.';

create table logloom_private.archive_notes (
  object_key text primary key,
  erased_tenant text,
  is_read boolean not null default true,
  is_ours boolean not null default true,
  to_repeat jsonb
);

create index archive_notes_erased_tenant_idx on logloom_private.archive_notes (erased_tenant);
create index archive_notes_open_idx on logloom_private.archive_notes (object_key)
where not is_read or to_repeat is not null;

comment on table logloom_private.archive_notes is
  'Notes of erasures in the bucket. An unknown note is newer than the restored database. Its '
  'erasure is repeated. There is no tenant_id: notes outlive their tenant, and the id may be used '
  'again.';

comment on column logloom_private.archive_notes.is_read is
  'False: found in the bucket, but not read yet.';

comment on column logloom_private.archive_notes.to_repeat is
  'The content of a note whose erasure retention must repeat, otherwise null.';

comment on column logloom_private.archive_notes.is_ours is
  'False: not signed by archive_bucket.note_key, and ignored.';
