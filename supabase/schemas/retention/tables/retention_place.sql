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
  rules_through text default '',
  rules_day date not null default '1970-01-01',
  constraint retention_place_has_one_row check (singleton)
);

comment on table logloom_private.retention_place is
  'The progress of the day''s retention, for the next run of the job.';

comment on column logloom_private.retention_place.failing_since is
  'Since when every day''s retention has ended with an error. Null: the last one ended without '
  'error.';

comment on column logloom_private.retention_place.today is
  'The UTC day that this retention is for.';

comment on column logloom_private.retention_place.spans_through is
  'The last tenant whose blocks'' time spans were checked. Null: all were.';

comment on column logloom_private.retention_place.rules_through is
  'The last tenant with retention rules that is finished. Null: all are. rules_day: the last '
  'finished day of the next tenant.';

comment on column logloom_private.retention_place.done_through is
  'The last finished day.';

comment on column logloom_private.retention_place.day is
  'The day that is being worked through, tenant by tenant. Null while the next day may still be '
  'dropped as a whole.';

comment on column logloom_private.retention_place.tenant_through is
  'The last finished tenant of the column day.';

comment on column logloom_private.retention_place.attempts is
  'How often readers prevented dropping the day''s partition.';

create table logloom_private.deletion_turns (
  tenant_id text primary key,
  served_at timestamptz not null
);

comment on table logloom_private.deletion_turns is
  'When a tenant with open erasures was last served: tenants take turns.';
