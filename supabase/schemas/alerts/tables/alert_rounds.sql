create table logloom_private.alert_rounds (
  singleton boolean primary key default true,
  window_end timestamptz not null,
  write_seq_from bigint not null,
  write_seq_to bigint not null,
  finished_at timestamptz,
  staged_by integer,
  rules_through uuid,
  constraint alert_rounds_has_one_row check (singleton)
);

comment on table logloom_private.alert_rounds is
  'The last round: where its windows ended, and which write sequences it added to the groups.';

comment on column logloom_private.alert_rounds.staged_by is
  'The backend whose temporary table has the records of the round.';

comment on column logloom_private.alert_rounds.rules_through is
  'Rules up to this id are evaluated.';

create table logloom_private.alert_round_writes (
  tenant_id text primary key,
  first_ts timestamptz not null,
  records bigint not null
);

comment on table logloom_private.alert_round_writes is
  'For each tenant with rules: how many records arrived for the last round, and their earliest ts. '
  'It decides which evaluated windows are evaluated again.';

create table logloom_private.alert_plans (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  query_dsl text not null,
  window_minutes integer not null,
  aggregate text,
  results jsonb,
  group_id bigint references logloom_private.alert_groups on delete cascade,
  -- Why the query does not compile.
  refusal text,
  view_id uuid,
  view_updated_at timestamptz,
  reopened_from timestamptz,
  constraint alert_plans_has_a_group_or_a_refusal check ((group_id is null) = (refusal is not null))
);

create index alert_plans_group_id_idx on logloom_private.alert_plans (group_id);

comment on table logloom_private.alert_plans is
  'The group and aggregate of a rule. results: the aggregates and math of a rule with more than '
  'one result. Valid while the rule still has this query_dsl, '
  'window_minutes and view_id, and the view still has view_updated_at.';

comment on column logloom_private.alert_plans.reopened_from is
  'The end of the first window that is evaluated again, because SQL logged records into it and '
  'committed them after alert_grace.';

create view logloom_private.planned_alert_rules with (security_invoker) as
select p.*, r.tenant_id, r.asked_at, r.last_evaluated_at,
  -- A rule with for_minutes uses only closed windows, which no late record opens again.
  s.alert_grace * (r.for_minutes > 0)::integer as delay
from logloom.alert_rules r
cross join logloom_private.settings s
join logloom_private.alert_plans p
  on p.rule_id = r.rule_id
  and p.query_dsl = r.query_dsl
  and p.window_minutes = r.window_minutes
  and p.view_id is not distinct from r.view_id
left join logloom.log_views v on v.view_id = r.view_id
where r.enabled and p.view_updated_at is not distinct from v.updated_at;

comment on view logloom_private.planned_alert_rules is
  'Enabled rules whose plan is valid. delay: how long after its end a window is first evaluated.';

create table logloom_private.alert_partials (
  group_id bigint not null references logloom_private.alert_groups on delete cascade,
  minute timestamptz not null,
  part smallint not null default 1,
  events bigint not null,
  numbers bigint not null,
  total numeric,
  least numeric,
  greatest numeric,
  primary key (group_id, minute, part)
)
with (fillfactor = 70);

comment on table logloom_private.alert_partials is
  'Partial values per group, minute of ts and part of the group: the number of records, the number '
  'of records with a number, and the sum and bounds of these numbers.';

create table logloom_private.alert_spending (
  tenant_id text primary key,
  spent_ms double precision not null
);

comment on table logloom_private.alert_spending is
  'The time that rules of a tenant took in the current round, without the work for all tenants. '
  'The tenant that used the least time comes next.';

create table logloom_private.alert_states (
  rule_id uuid not null references logloom.alert_rules on delete cascade,
  group_key text not null,
  "group" jsonb,
  -- seen_at: end of the last window with records. holds_since: end of the first window since which
  -- the condition has held without a break.
  seen_at timestamptz,
  holds_since timestamptz,
  primary key (rule_id, group_key)
)
-- Every row is updated every minute.
with (fillfactor = 70);

comment on table logloom_private.alert_states is
  'Since when the condition of a rule with for_minutes has held, and when groups of a rule with '
  'on_absent had records.';
