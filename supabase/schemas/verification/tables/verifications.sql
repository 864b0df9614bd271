-- Verifications of stored records, and the differences that they found.

create table logloom_private.verifications (
  verification_id bigint generated always as identity primary key,
  started_at timestamptz not null default clock_timestamp(),
  block_through bigint not null default 0,
  tenant_through text not null default '',
  tenant_id text,
  ts_through timestamptz not null default '-infinity',
  blocks bigint not null default 0,
  records bigint not null default 0,
  differences bigint not null default 0,
  finished_at timestamptz,
  archive_tenant_through text not null default '',
  archive_day_through date not null default '-infinity'
);

-- Only one verification runs at a time.
create unique index verifications_open_idx
on logloom_private.verifications ((true)) where finished_at is null;

comment on table logloom_private.verifications is
  'Verifications of blocks, counts, ids and the archive. The row without finished_at is the '
  'running one. It continues at its position. The last hundred are kept.';

comment on column logloom_private.verifications.block_through is
  'The last verified block_id. Blocks are verified first, then the records of each tenant.';

comment on column logloom_private.verifications.tenant_through is
  'The last verified tenant.';

comment on column logloom_private.verifications.ts_through is
  'Records of tenant_id before this time are verified.';

comment on column logloom_private.verifications.records is
  'The number of records whose counts and ids were compared.';

comment on column logloom_private.verifications.archive_day_through is
  'The last verified archived day of archive_tenant_through. All tenants before this tenant are '
  'verified. The archive is verified last.';

create table logloom_private.verification_differences (
  difference_id bigint generated always as identity primary key,
  verification_id bigint not null
    references logloom_private.verifications on delete cascade,
  found_at timestamptz not null default clock_timestamp(),
  kind text not null,
  tenant_id text not null,
  day date not null,
  block_id bigint,
  detail text not null,
  constraint verification_differences_kind_is_known check (
    kind in ('archive', 'block', 'count', 'id')
  )
);

create index verification_differences_verification_id_idx
on logloom_private.verification_differences (verification_id);

comment on table logloom_private.verification_differences is
  'What a verification found: a damaged block, a minute with wrong counts, a record stored more '
  'than once, or archived days whose files have the wrong records. At most a thousand rows for '
  'each verification.';
