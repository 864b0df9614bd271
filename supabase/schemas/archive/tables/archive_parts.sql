create table logloom.archive_parts (
  part_id uuid primary key default gen_random_uuid(),
  number bigint generated always as identity,
  tenant_id text not null,
  first_day date not null,
  last_day date not null,
  write_seq bigint not null,
  generation integer not null default 1,
  object_key text not null,
  status text not null,
  first_ts timestamptz,
  last_ts timestamptz,
  records integer,
  bytes bigint,
  sha256 text,
  created_at timestamptz not null default clock_timestamp(),
  verified_at timestamptz,
  newer_key text,
  constraint archive_parts_status_is_known check (status in ('draft', 'verified', 'missing')),
  constraint archive_parts_verified_is_known check (
    status = 'draft'
    or records > 0 and bytes > 0 and sha256 is not null and verified_at is not null
      and first_ts is not null and last_ts is not null
  )
);

create index archive_parts_tenant_id_number_idx on logloom.archive_parts (tenant_id, number);
create index archive_parts_tenant_id_last_day_idx on logloom.archive_parts (tenant_id, last_day);
create index archive_parts_newer_key_idx on logloom.archive_parts (part_id)
where newer_key is not null;

create unique index archive_parts_object_key_idx on logloom.archive_parts (object_key);

create policy archive_parts_select_tenant on logloom.archive_parts
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.archive_parts to authenticated, service_role;

comment on table logloom.archive_parts is
  'The files of the archive, one for each part. draft: being written. verified: read back and '
  'equal to the database''s records. missing: no longer in the bucket.';

comment on column logloom.archive_parts.number is
  'Numbers the parts in the order in which they were created. An erasure checks the parts up to '
  'parts_through.';

comment on column logloom.archive_parts.write_seq is
  'The greatest write sequence that the part''s records may have. Restored records get it.';

comment on column logloom.archive_parts.newer_key is
  'The key of a later generation in the bucket. It will replace the part''s file. The database '
  'does not know that generation after a restore to an earlier state.';

comment on column logloom.archive_parts.generation is
  'How often the file was written. An erasure writes it again, under another key.';

create table logloom_private.archived_days (
  tenant_id text not null,
  day date not null,
  write_seq bigint not null,
  primary key (tenant_id, day)
);

comment on table logloom_private.archived_days is
  'Which records are archived: those of a tenant''s day with a write sequence up to write_seq. It '
  'does not matter where a record is stored: sealing, merging and unsealing change nothing here.';

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
  'Days of a tenant that are being archived; one pass for each tenant. A pass archives all records '
  'up to write_seq that archived_days lacks, in the order of ts and id.';

comment on column logloom_private.archive_passes.position_ts is
  'The last record (position_ts, position_id) that is in a written and verified file.';

create table logloom.archive_restores (
  restore_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  requested_by text not null,
  requested_at timestamptz not null default clock_timestamp(),
  first_day date not null,
  last_day date not null,
  ts_from timestamptz not null,
  ts_to timestamptz not null,
  query_dsl text not null,
  kept_until timestamptz not null,
  status text not null default 'queued',
  parts integer not null,
  parts_done integer not null default 0,
  records bigint not null default 0,
  bytes bigint not null default 0,
  position_number bigint not null default 0,
  failures integer not null default 0,
  next_attempt_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  error text,
  constraint archive_restores_status_is_known check (
    status in ('queued', 'running', 'done', 'failed')
  )
);

create index archive_restores_tenant_id_requested_at_idx
on logloom.archive_restores (tenant_id, requested_at desc, restore_id desc);

create index archive_restores_open_idx on logloom.archive_restores (next_attempt_at)
where status in ('queued', 'running');

create policy archive_restores_select_tenant on logloom.archive_restores
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.archive_restores to authenticated, service_role;

comment on table logloom.archive_restores is
  'Restores of days from the archive. Kept for settings.audit_lifetime.';

create table logloom_private.archive_erasures (
  run_id uuid primary key,
  tenant_id text not null,
  query_dsl text not null,
  requested_at timestamptz not null,
  ts_from timestamptz not null,
  ts_to timestamptz not null,
  began_at timestamptz not null default clock_timestamp(),
  parts_through bigint,
  position_number bigint not null default 0,
  records bigint not null default 0,
  parts integer not null default 0,
  failures integer not null default 0,
  error text,
  next_attempt_at timestamptz not null default clock_timestamp(),
  finished_at timestamptz,
  noted_at timestamptz,
  emptied uuid[] not null default '{}'
);

create index archive_erasures_tenant_id_idx on logloom_private.archive_erasures (tenant_id);

comment on table logloom_private.archive_erasures is
  'Erasures in the archive. An erasure checks the files up to parts_through. parts_through is set '
  'when the database has no match left. Until the erasure is done, nothing of the tenant is '
  'archived.';

comment on column logloom_private.archive_erasures.noted_at is
  'When the bucket got the erasure''s note, or when the erasure turned out to need none. Null: the '
  'note is still to be written.';

comment on column logloom_private.archive_erasures.emptied is
  'Parts that contained only matches. Their objects were deleted.';
