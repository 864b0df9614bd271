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
  'The last round: where its windows ended, and which write_seqs it added to the groups.';

comment on column logloom_private.alert_rounds.staged_by is
  'The backend whose temporary table has the records that arrived for the round.';

comment on column logloom_private.alert_rounds.rules_through is
  'Rules up to this one were evaluated, in the order of their ids.';

create table logloom_private.alert_round_writes (
  tenant_id text primary key,
  first_ts timestamptz not null,
  records bigint not null
);

comment on table logloom_private.alert_round_writes is
  'What arrived for the last round, of tenants with rules: how many records, and the least ts, '
  'which says which windows that were evaluated are to be looked at again.';

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

create view logloom_private.planned_alert_rules with (security_invoker) as
select p.*, r.tenant_id, r.asked_at, r.last_evaluated_at,
  -- How long it held is for closed windows to say, which no late record opens again.
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
  'Enabled rules whose plan is valid. delay: how long their windows are over when they are looked '
  'at first.';

create table logloom_private.alert_partials (
  group_id bigint not null references logloom_private.alert_groups on delete cascade,
  minute timestamptz not null,
  events bigint not null,
  numbers bigint not null,
  total numeric,
  least numeric,
  greatest numeric,
  primary key (group_id, minute)
)
with (fillfactor = 70);

comment on table logloom_private.alert_partials is
  'Per group and minute of ts: records, those with a number, and the numbers'' sum and bounds.';

create table logloom_private.alert_spending (
  tenant_id text primary key,
  spent_ms double precision not null
);

comment on table logloom_private.alert_spending is
  'What the rules of a tenant took of the present round beyond what is done for all at once: who '
  'took least comes next.';

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
