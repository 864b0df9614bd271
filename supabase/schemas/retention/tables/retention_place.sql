create table logloom_private.retention_place (
  singleton boolean primary key default true,
  today date not null,
  spans_through text default '',
  done_through date,
  day date,
  tenant_through text,
  attempts integer not null default 0,
  error text,
  finished_at timestamptz,
  failing_since timestamptz,
  constraint retention_place_has_one_row check (singleton)
);

comment on table logloom_private.retention_place is
  'How far the day''s retention has come; the next run of the job goes on there.';

comment on column logloom_private.retention_place.failing_since is
  'Since when no day''s retention has ended without an error. Null: the last one did.';

comment on column logloom_private.retention_place.today is 'The UTC day for which it runs.';

comment on column logloom_private.retention_place.spans_through is
  'Up to this tenant no block spans more days than its retention allows; null: none of anybody.';

comment on column logloom_private.retention_place.done_through is
  'The last day that was seen to.';

comment on column logloom_private.retention_place.day is
  'The day of which tenant after tenant is seen to; null while the next one may still be dropped '
  'whole.';

comment on column logloom_private.retention_place.tenant_through is
  'Up to this tenant that day was seen to.';

comment on column logloom_private.retention_place.attempts is
  'How often that day''s partition could not be dropped for its readers.';
