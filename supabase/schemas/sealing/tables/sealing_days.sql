create table logloom_private.sealing_days (
  day date primary key,
  checked_at timestamptz,
  checked_through text,
  removed_records bigint not null default 0,
  removed_by xid8,
  prepared_by xid8,
  prepared_records bigint,
  prepared_write_seq bigint,
  replace_after timestamptz,
  differences integer not null default 0,
  last_error text
);

comment on table logloom_private.sealing_days is
  'The days that the job seal_logs has checked, and its progress.';

comment on column logloom_private.sealing_days.checked_at is
  'When the last pass over all tenants of the day ended.';

comment on column logloom_private.sealing_days.checked_through is
  'The last tenant that the current pass over the day has finished. Null if no pass is running.';

comment on column logloom_private.sealing_days.removed_records is
  'How many records were sealed from the day''s partition since it was last replaced.';

comment on column logloom_private.sealing_days.removed_by is
  'The last transaction that sealed records of the partition.';

comment on column logloom_private.sealing_days.prepared_by is
  'The transaction that made the copy which will replace the partition.';

comment on column logloom_private.sealing_days.differences is
  'How many blocks were discarded because they differed from their records.';

comment on column logloom_private.sealing_days.replace_after is
  'The replacement of the partition is not tried before this time.';
