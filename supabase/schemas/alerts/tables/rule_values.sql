create table logloom_private.rule_values (
  rule_id uuid not null references logloom.alert_rules on delete cascade,
  window_end timestamptz not null,
  values jsonb not null,
  others double precision,
  primary key (rule_id, window_end)
);

create index rule_values_window_end_idx on logloom_private.rule_values using brin (window_end);

comment on table logloom_private.rule_values is
  'The values of rules with a baseline, in one window of every five minutes. values: the value by '
  'group, as group_key() writes it. others: the value of every other group; null: unknown.';
