create table logloom_private.alert_round_writes (
  tenant_id text primary key,
  first_ts timestamptz not null,
  records bigint not null
);

comment on table logloom_private.alert_round_writes is
  'What arrived for the last round, of tenants with rules: how many records, and the least ts, '
  'which says which windows that were evaluated are to be looked at again.';
