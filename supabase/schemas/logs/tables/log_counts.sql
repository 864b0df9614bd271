create table logloom_private.log_counts (
  minute timestamptz not null,
  events bigint not null,
  is_other boolean not null default false,
  is_delta boolean not null default true,
  tenant_id text not null,
  level text,
  service text,
  count_id bigint generated always as identity,
  primary key (tenant_id, minute, count_id)
);

create index log_counts_other_idx on logloom_private.log_counts (tenant_id, minute) where is_other;
create index log_counts_delta_idx on logloom_private.log_counts (minute) where is_delta;

comment on table logloom_private.log_counts is
  'Counts of records by tenant, minute of ts, service and level. Several rows may have the same '
  'four: their sum is the count. The statements that change records add rows (added_records_sql, '
  'removed_records_sql); logloom_private.compact_log_counts() sums them up.';

comment on column logloom_private.log_counts.events is
  'How many records; negative for deleted records. Only the sum is meaningful.';

comment on column logloom_private.log_counts.is_other is
  'True: the row counts all services beyond max_counted_services() together, and service is null. '
  'In such a minute the counts cannot answer for a single service.';

comment on column logloom_private.log_counts.count_id is
  'Makes the primary key unique, because a minute may have several rows.';

comment on column logloom_private.log_counts.is_delta is
  'True: added since the rows of the minute were last summed up.';

create table logloom_private.log_days (
  tenant_id text not null,
  day date not null,
  primary key (tenant_id, day)
);

create index log_days_day_tenant_id_idx on logloom_private.log_days (day, tenant_id);

comment on table logloom_private.log_days is
  'The UTC days in which a tenant has records. A search reads only these days. A day stays until '
  'its partition is dropped, or retention finds no record of the tenant.';

create table logloom_private.log_removals (
  tenant_id text not null
);

create index log_removals_tenant_id_idx on logloom_private.log_removals (tenant_id);

comment on table logloom_private.log_removals is
  'Tenants that lost records recently enough for an alert window. The stored sums of their alerts '
  'are no longer valid. Each removal adds a row: a removal and an alert round never wait for each '
  'other.';

create table logloom_private.log_writes (
  write_seq bigint not null,
  day date not null,
  primary key (write_seq, day)
);

create index log_writes_day_write_seq_idx on logloom_private.log_writes (day, write_seq);

comment on table logloom_private.log_writes is
  'The highest write sequence in each day''s partition. Lower ones stay until a job removes '
  'them. A live tail reads here which partitions have new records.';
