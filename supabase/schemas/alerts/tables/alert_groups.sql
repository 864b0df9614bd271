create table logloom_private.alert_groups (
  group_id bigint generated always as identity primary key,
  tenant_id text not null references logloom.tenants on delete cascade,
  digest bytea not null,
  filter text,
  -- What sum, avg, min and max take of a record, over the alias l.
  number_sql text,
  write_seq bigint,
  filled_from timestamptz,
  -- Of the instant filled_from, the least id that is included; null: all of it is.
  filled_id uuid,
  -- Records that the present filling read.
  records_read bigint not null default 0,
  -- Milliseconds that the present filling took.
  spent_ms double precision not null default 0,
  -- Milliseconds that a record took when the group last read some: what it is expected to cost.
  ms_per_record double precision,
  failures integer not null default 0,
  -- It failed or cost too much and rests until then; failures: how often in a row it cost too much.
  retry_at timestamptz,
  last_error text,
  -- When it last had a turn of reading.
  turn_at timestamptz,
  constraint alert_groups_digest_is_unique unique (tenant_id, digest),
  constraint alert_groups_partials_are_whole check ((filter is null) = (number_sql is null)),
  constraint alert_groups_filling_is_whole check ((write_seq is null) = (filled_from is null))
)
-- Every group is updated every minute.
with (fillfactor = 70);

create index alert_groups_unfilled_idx on logloom_private.alert_groups (group_id)
where write_seq is null;

comment on table logloom_private.alert_groups is
  'What rules of a tenant ask alike. Its partial values are complete for records up to write '
  'sequence from (filled_from, filled_id) on; both null: to be filled. Without a filter its rules '
  'have no partial values: they read their windows.';
