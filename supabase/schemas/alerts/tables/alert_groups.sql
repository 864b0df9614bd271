create table logloom_private.alert_groups (
  group_id bigint generated always as identity primary key,
  tenant_id text not null references logloom.tenants on delete cascade,
  digest bytea not null,
  filter text,
  -- Each part is SQL with the alias l: whether a record counts, a comma, and the number that sum,
  -- avg, min and max read from the record.
  parts text[],
  write_seq bigint,
  filled_from timestamptz,
  -- Includes only records at filled_from with this id or a higher one. Null: all of them.
  filled_id uuid,
  -- While the group is incomplete: how many records were read for it.
  records_read bigint not null default 0,
  -- While the group is incomplete: how many milliseconds the reading took.
  spent_ms double precision not null default 0,
  -- Milliseconds per record in the last reading: the expected cost.
  ms_per_record double precision,
  failures integer not null default 0,
  -- The group is paused until this time, after an error or because it was too expensive. failures:
  -- how often in a row it was too expensive.
  retry_at timestamptz,
  last_error text,
  -- When the group last had its turn to be read.
  turn_at timestamptz,
  constraint alert_groups_digest_is_unique unique (tenant_id, digest),
  constraint alert_groups_partials_are_whole check ((filter is null) = (parts is null)),
  constraint alert_groups_filling_is_whole check ((write_seq is null) = (filled_from is null))
)
-- Every group is updated every minute.
with (fillfactor = 70);

create index alert_groups_unfilled_idx on logloom_private.alert_groups (group_id)
where write_seq is null;

comment on table logloom_private.alert_groups is
  'A group of a tenant''s rules that read the same records and use the same partial values. The '
  'values include all records from (filled_from, filled_id) on, up to write_seq. If these columns '
  'are null, the group has no values yet. A group without a filter has no partial values: its '
  'rules read their windows.';
