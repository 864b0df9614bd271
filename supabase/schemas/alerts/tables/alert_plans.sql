create table logloom_private.alert_plans (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  query_dsl text not null,
  window_minutes integer not null,
  aggregate text,
  group_id bigint references logloom_private.alert_groups on delete cascade,
  -- Why the query does not compile.
  refusal text,
  view_id uuid,
  view_updated_at timestamptz,
  constraint alert_plans_has_a_group_or_a_refusal check ((group_id is null) = (refusal is not null))
);

create index alert_plans_group_id_idx on logloom_private.alert_plans (group_id);

comment on table logloom_private.alert_plans is
  'Where a rule''s values come from, valid while query_dsl, window_minutes and view_id are the '
  'rule''s, and view_updated_at is the view''s.';
