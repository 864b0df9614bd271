create table logloom_private.storage (
  singleton boolean primary key default true,
  measured_at timestamptz,
  bytes bigint not null default 0,
  reusable_bytes bigint not null default 0,
  is_dropping boolean not null default false,
  is_stuck boolean not null default false,
  limit_day date,
  overtakes_archive boolean not null default false,
  dropped_day date,
  told_percent integer not null default 0,
  constraint storage_has_one_row check (singleton)
);

insert into logloom_private.storage default values;

comment on table logloom_private.storage is
  'The stored bytes, and the state of the job bound_storage. It measures them once a minute.';

comment on column logloom_private.storage.bytes is
  'The file sizes of partitions and queue, plus the content of blocks.';

comment on column logloom_private.storage.reusable_bytes is
  'The bytes of all other tables and indexes of Logloom: counts, settings, and mostly free space '
  'of deleted rows. Free space is reused before files grow. Measured once an hour.';

comment on column logloom_private.storage.is_dropping is
  'True: settings.max_storage_bytes was reached. Days are dropped until 95 % of it is used.';

comment on column logloom_private.storage.is_stuck is
  'True: no day is left to drop, since today and yesterday always stay. At the limit, ingest is '
  'refused.';

comment on column logloom_private.storage.limit_day is
  'The day that is being dropped for all tenants because storage is full. The daily '
  'retention waits for it. Null: none.';

comment on column logloom_private.storage.overtakes_archive is
  'True: limit_day is dropped without waiting for the archive.';

comment on column logloom_private.storage.dropped_day is
  'The day that was chosen last. If the same day is chosen again, dropping it has failed: the next '
  'run tries again.';

comment on column logloom_private.storage.told_percent is
  'The last threshold, 80 or 100 percent, that was reported to the operators'' tenant. Reset below '
  '70 percent.';

create table logloom_private.storage_hours (
  hour timestamptz primary key,
  measured_at timestamptz not null,
  bytes bigint not null
);

comment on table logloom_private.storage_hours is
  'The stored bytes at the first measurement of each hour of the last 8 days, for the forecast.';
