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
  'What is known of the bucket of the archive, and how far planning and comparing have come.';

comment on column logloom_private.archive_bucket.installation_id is
  'Whose files they are: it stands in <prefix>/logloom.json, so that no two installations share a '
  'prefix.';

comment on column logloom_private.archive_bucket.bucket is
  'The bucket, and prefix, that checked_at and problem are about.';

comment on column logloom_private.archive_bucket.problem is
  'Why nothing is archived: what the last check of the bucket found. Null: nothing.';

comment on column logloom_private.archive_bucket.planned_through is
  'Up to this tenant a round of planning has come; null where none is under way.';

comment on column logloom_private.archive_bucket.compared_through is
  'Up to this key the bucket was compared with archive_parts; null where no round is under way.';

comment on column logloom_private.archive_bucket.restored_at is
  'When the database was last repaired: what the bucket had by then and nobody knows is of a later '
  'state.';

comment on column logloom_private.archive_bucket.note_key is
  'Signs the notes of erasures: whoever may write to the bucket can have nothing erased here.';

create table logloom_private.archive_endpoint (
  singleton boolean primary key default true,
  url text,
  secret text,
  constraint archive_endpoint_has_one_row check (singleton)
);

insert into logloom_private.archive_endpoint default values;

comment on table logloom_private.archive_endpoint is
  'Where the edge function logloom-archive is, and the secret that it knows its caller by.';

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
  expires_at timestamptz not null,
  constraint archive_claims_kind_is_known check (
    kind in (
      'adopt', 'check', 'compare', 'delete', 'erase', 'note', 'recall', 'restore', 'write'
    )
  )
);

create unique index archive_claims_tenant_id_idx on logloom_private.archive_claims (tenant_id);

comment on table logloom_private.archive_claims is
  'Leases of the function logloom-archive: one of a tenant at a time, and one, of no tenant, for '
  'what is about the bucket.';

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
  'Notes of erasures that the bucket has. One that is not here was made after the state that the '
  'database was brought back to, so its erasure is repeated. They outlive their tenant, whose id '
  'may be given again; hence no tenant_id.';

comment on column logloom_private.archive_notes.is_read is
  'False: found in the bucket, and yet to be read.';

comment on column logloom_private.archive_notes.to_repeat is
  'What was read: an erasure that retention is to repeat.';

comment on column logloom_private.archive_notes.is_ours is
  'False: it was read and is not signed by archive_bucket.note_key, so nothing came of it.';
