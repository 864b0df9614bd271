-- Of rules that fire late, or when a group stops.
create table logloom_private.alert_states (
  rule_id uuid not null references logloom.alert_rules on delete cascade,
  group_key text not null,
  "group" jsonb,
  -- The end of the last window with records, and of the first one since which the condition holds
  -- without a break.
  seen_at timestamptz,
  holds_since timestamptz,
  primary key (rule_id, group_key)
)
-- Every row is updated every minute.
with (fillfactor = 70);

comment on table logloom_private.alert_states is
  'Since when the condition of a rule with for_minutes holds, and when groups of a rule with '
  'on_absent had records.';
