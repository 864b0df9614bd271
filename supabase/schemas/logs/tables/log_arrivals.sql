create table logloom_private.log_arrivals (
  arrival bigint not null,
  day date not null,
  primary key (arrival, day)
);

create index log_arrivals_day_arrival_idx on logloom_private.log_arrivals (day, arrival);

alter table logloom_private.log_arrivals enable row level security;
alter table logloom_private.log_arrivals force row level security;

comment on table logloom_private.log_arrivals is
  'The greatest arrival in each day''s partition, and lesser ones until the next summing up: which '
  'partitions a live tail must look at.';
