create table logloom_private.stream_round (
  singleton boolean primary key default true,
  noted_through bigint not null default 0,
  constraint stream_round_has_one_row check (singleton)
);

insert into logloom_private.stream_round default values;

comment on table logloom_private.stream_round is
  'Up to which write sequence it was noted which streams have something to send. Whoever calls a '
  'stream idle holds the row.';
