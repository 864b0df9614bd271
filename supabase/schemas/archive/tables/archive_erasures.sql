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
  'Erasures as they reach the archive: files up to parts_through, which is fixed once the '
  'database holds no match any more. Nothing that was read before is archived meanwhile.';

comment on column logloom_private.archive_erasures.noted_at is
  'Since when the bucket has a note of it, or needs none; null: that is to be written.';

comment on column logloom_private.archive_erasures.emptied is
  'Parts that held nothing but matches, so that their objects were deleted.';
