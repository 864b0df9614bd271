create table logloom_private.alert_plans (
  rule_id uuid primary key references logloom.alert_rules on delete cascade,
  tenant_id text not null references logloom.tenants on delete cascade,
  query_dsl text not null,
  aggregate text not null,
  aggregate_sql text not null,
  filter text not null,
  tree jsonb not null,
  names_now boolean not null,
  by_fields text[] not null default '{}',
  by_sql text[] not null default '{}',
  group_id bigint references logloom_private.alert_groups on delete cascade,
  refusal text,
  failures integer not null default 0,
  retry_at timestamptz,
  last_error text
);

create index alert_plans_tenant_id_idx on logloom_private.alert_plans (tenant_id);
create index alert_plans_group_id_idx on logloom_private.alert_plans (group_id);

comment on table logloom_private.alert_plans is
  'A rule''s query as compiled, valid while query_dsl is the rule''s. Without a group, the rule '
  'reads its window.';

comment on column logloom_private.alert_plans.by_sql is
  'What by groups records by, over the alias l; by_fields: the fields as written.';

comment on column logloom_private.alert_plans.refusal is 'Why the query does not compile.';

comment on column logloom_private.alert_plans.retry_at is
  'Reading its window cost too much: it rests until then; failures: how often in a row.';
