create table logloom_private.log_writes (
  write_seq bigint not null,
  day date not null,
  primary key (write_seq, day)
);

create index log_writes_day_write_seq_idx on logloom_private.log_writes (day, write_seq);

comment on table logloom_private.log_writes is
  'The greatest write sequence in each day''s partition, and lesser ones until the next summing '
  'up: which partitions a live tail must look at.';
