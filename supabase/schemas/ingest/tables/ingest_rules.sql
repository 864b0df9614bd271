create table logloom.ingest_rules (
  rule_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  position integer not null,
  name text not null,
  condition text,
  action jsonb not null,
  compiled jsonb not null,
  is_on boolean not null,
  created_by text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  constraint ingest_rules_name_is_unique unique (tenant_id, name)
);

create policy ingest_rules_select_tenant on logloom.ingest_rules
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy ingest_rules_insert_admin on logloom.ingest_rules
for insert to authenticated
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

create policy ingest_rules_update_admin on logloom.ingest_rules
for update to authenticated
using (tenant_id = (select logloom_private.current_admin_tenant_id()))
with check (tenant_id = (select logloom_private.current_admin_tenant_id()));

create policy ingest_rules_delete_admin on logloom.ingest_rules
for delete to authenticated
using (tenant_id = (select logloom_private.current_admin_tenant_id()));

grant select, delete on logloom.ingest_rules to authenticated, service_role;

grant insert (tenant_id, position, name, condition, action, is_on)
on logloom.ingest_rules to authenticated, service_role;

grant update (position, name, condition, action, is_on)
on logloom.ingest_rules to authenticated, service_role;

comment on table logloom.ingest_rules is
  'What the function ingest does to a tenant''s events before they are stored, ordered by position '
  'and rule_id.';

comment on column logloom.ingest_rules.condition is
  'Selects the events: a filter of the query language. Null: every event.';

comment on column logloom.ingest_rules.compiled is
  'The rule as the function ingest applies it: {id, when: [tests, joined by AND], do: action}.';

create table logloom_private.ingest_rule_sets (
  tenant_id text primary key references logloom.tenants on delete cascade,
  version uuid,
  hash_key text
);

comment on table logloom_private.ingest_rule_sets is
  'A row for each tenant that ever had a rule. version: changes with every change of a rule or the '
  'key. Null without an enabled rule. hash_key: the sealed key of the hashes in masks.';

create table logloom.ingest_rule_hours (
  tenant_id text not null,
  rule_id uuid not null,
  hour timestamptz not null,
  seen bigint not null,
  matched bigint not null,
  masked bigint not null,
  dropped bigint not null,
  sampled bigint not null,
  not_checked bigint not null,
  bytes bigint not null,
  primary key (tenant_id, rule_id, hour)
)
-- The rows of this hour change all the time.
with (fillfactor = 50);

create index ingest_rule_hours_hour_idx on logloom.ingest_rule_hours (hour);

create policy ingest_rule_hours_select_tenant on logloom.ingest_rule_hours
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.ingest_rule_hours to authenticated, service_role;

comment on table logloom.ingest_rule_hours is
  'What each rule did, by UTC hour of receipt, with the members of ingest_rule_count. '
  'meter_batches adds to it. There are no foreign keys: the writer waits for no change of a rule. '
  'Kept for 32 days.';
