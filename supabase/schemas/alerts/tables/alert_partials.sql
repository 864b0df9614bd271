create table logloom_private.alert_partials (
  group_id bigint not null references logloom_private.alert_groups on delete cascade,
  minute timestamptz not null,
  events bigint not null,
  numbers bigint not null,
  total numeric,
  least numeric,
  greatest numeric,
  primary key (group_id, minute)
)
with (fillfactor = 70);

comment on table logloom_private.alert_partials is
  'Per group and minute of ts: records, those with a number, and the numbers'' sum and bounds.';
