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
  'Days that the job seal_logs has looked at, and how far it is: the place that it goes on from.';

comment on column logloom_private.sealing_days.checked_at is
  'When all tenants of the day were last looked at.';

comment on column logloom_private.sealing_days.checked_through is
  'Up to this tenant a pass over the day has come; null where none is under way.';

comment on column logloom_private.sealing_days.removed_records is
  'Records that went from the day''s partition into blocks since it was last replaced.';

comment on column logloom_private.sealing_days.removed_by is
  'The last transaction that took records out of the partition.';

comment on column logloom_private.sealing_days.prepared_by is
  'The transaction that copied what remains into a table that is to take the partition''s place.';

comment on column logloom_private.sealing_days.differences is
  'Blocks that were given up because they differed from their records.';

comment on column logloom_private.sealing_days.replace_after is
  'Not before this the partition''s replacement is tried again.';
