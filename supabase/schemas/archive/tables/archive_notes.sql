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
