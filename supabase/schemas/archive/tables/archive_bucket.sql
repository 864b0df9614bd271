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
