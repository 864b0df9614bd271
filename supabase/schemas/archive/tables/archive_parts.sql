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
  'The files of the archive, one for each part. draft: being written; verified: read back and '
  'equal to the records of the database; missing: the bucket had it no more.';

comment on column logloom.archive_parts.number is
  'The order in which parts were made: an erasure looks at those up to one.';

comment on column logloom.archive_parts.write_seq is
  'Its records have this write sequence or a lesser one; restored ones get it.';

comment on column logloom.archive_parts.newer_key is
  'A later generation that the bucket has, and the database does not know of since it was brought '
  'back to an earlier state: it takes the part''s place.';

comment on column logloom.archive_parts.generation is
  'How often it was written: an erasure writes it anew, under another key.';
