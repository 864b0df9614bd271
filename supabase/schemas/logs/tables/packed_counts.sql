create table logloom_private.packed_counts (
  week date not null,
  tenant_id text not null,
  minutes smallint[] not null,
  events integer[] not null,
  levels "char"[] not null,
  places smallint[] not null,
  services text[] not null,
  primary key (tenant_id, week)
);

comment on table logloom_private.packed_counts is
  'What logloom_private.log_counts said of minutes long ago, of tenants with few rows there: a row '
  'a week instead of one a minute. A count is here or there, not in both.';

comment on column logloom_private.packed_counts.week is 'Its Monday.';

comment on column logloom_private.packed_counts.minutes is
  'Of each count the minute of the week, from 0 on.';

comment on column logloom_private.packed_counts.events is 'Of each count how many.';

comment on column logloom_private.packed_counts.levels is
  'Of each count the first letter of its level, a blank where it has none.';

comment on column logloom_private.packed_counts.places is
  'Of each count the place of its service among services, from 1 on; 0 where is_other.';
