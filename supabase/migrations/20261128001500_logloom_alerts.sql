-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- alerts/types/alert_preview.sql
create type public.logloom_alert_preview_entry as (
  window_start timestamptz,
  window_end timestamptz,
  value double precision,
  "group" jsonb
);

comment on type public.logloom_alert_preview_entry is
  'A window in which a rule would have fired; group: for which one, where the rule has by.';

create type public.logloom_alert_preview_point as (
  ts timestamptz,
  value double precision
);

comment on type public.logloom_alert_preview_point is
  'The value of the window that ends at ts; null where it has none.';

create type public.logloom_alert_preview_group as (
  "group" jsonb,
  alerts integer,
  series public.logloom_alert_preview_point[]
);

comment on type public.logloom_alert_preview_group is
  'A group of a rule with by: how often it would have fired, and its value in each window in which '
  'it has one.';

create type public.logloom_alert_preview as (
  ts_from timestamptz,
  ts_to timestamptz,
  step_minutes integer,
  alerts public.logloom_alert_preview_entry[],
  series public.logloom_alert_preview_point[],
  total_alerts integer,
  groups public.logloom_alert_preview_group[],
  total_groups integer,
  crowded_windows integer
);

comment on type public.logloom_alert_preview is
  'When a rule would have fired between ts_from and ts_to, looked at every step_minutes, and the '
  'values that it would have seen. Of a rule with by, series has the greatest value of a window, '
  'groups those that fire most or have the greatest values, and crowded_windows counts windows '
  'with more or longer groups than a rule looks at; of others, the last three are null.';

-- alerts/types/alert_silences.sql
create type public.logloom_alert_silence as (
  silence_id uuid,
  tenant_id text,
  matcher jsonb,
  starts_at timestamptz,
  ends_at timestamptz,
  state text,
  comment text,
  created_by text,
  created_at timestamptz,
  expired_at timestamptz,
  expired_by text
);

comment on type public.logloom_alert_silence is
  'For a time nothing is sent of alerts that match. matcher: {rule_id, group}, either or none. '
  'state: scheduled, active or expired.';

-- alerts/types/alerts.sql
create type public.logloom_alert_comparison as enum ('gt', 'gte', 'lt', 'lte', 'eq', 'neq');

comment on type public.logloom_alert_comparison is
  'How a rule compares its value with the threshold.';

create type public.logloom_alert_rule as (
  rule_id uuid,
  tenant_id text,
  name text,
  description text,
  query_dsl text,
  threshold double precision,
  comparison public.logloom_alert_comparison,
  window_minutes integer,
  cooldown_minutes integer,
  enabled boolean,
  notification_destinations text[],
  notification_config jsonb,
  created_at timestamptz,
  updated_at timestamptz,
  last_evaluated_at timestamptz,
  last_value double precision,
  last_error text,
  view_id uuid,
  notify_on_recovery boolean,
  for_minutes integer,
  on_absent text,
  group_wait_seconds integer,
  notification_secrets jsonb
);

comment on type public.logloom_alert_rule is
  'An alert rule. Windows and cooldowns are in minutes. view_id: the view that it is evaluated in; '
  'null: all records. notification_secrets: which are set, {"slack_url": {"set": true}}.';

create type public.logloom_alert_history_entry as (
  alert_id uuid,
  rule_id uuid,
  tenant_id text,
  triggered_at timestamptz,
  value double precision,
  threshold double precision,
  acknowledged boolean,
  acknowledged_at timestamptz,
  acknowledged_by text,
  notification_sent boolean,
  notification_sent_at timestamptz,
  notification_channels text[],
  notification_error text,
  window_start timestamptz,
  window_end timestamptz,
  "group" jsonb,
  incident_id uuid,
  resolved_at timestamptz,
  silence_id uuid,
  absent boolean
);

comment on type public.logloom_alert_history_entry is
  'An alert: the value that a rule saw, and whether it was acknowledged and delivered. '
  'resolved_at: when its incident ended; null while that is open. silence_id: of the silence that '
  'kept it from being sent. absent: it fired since its group sent nothing.';

create type public.logloom_alert_incident as (
  incident_id uuid,
  tenant_id text,
  rule_id uuid,
  rule_name text,
  query_dsl text,
  window_minutes integer,
  "group" jsonb,
  state text,
  opened_at timestamptz,
  last_fired_at timestamptz,
  resolved_at timestamptz,
  resolution text,
  fired_count integer,
  value double precision,
  peak_value double precision,
  threshold double precision,
  comparison public.logloom_alert_comparison,
  acknowledged_at timestamptz,
  acknowledged_by text
);

comment on type public.logloom_alert_incident is
  'A rule, and of a rule with by one of its groups, whose condition holds since opened_at. state: '
  'open, acknowledged or resolved. resolution: recovered, rule_changed, rule_disabled or '
  'rule_deleted; null before. value is that of the last window in which the condition held, '
  'peak_value the one farthest from the threshold.';

create type public.logloom_alert_acknowledgement as (success boolean, acknowledged integer);

comment on type public.logloom_alert_acknowledgement is
  'acknowledged: how many incidents nobody had acknowledged before.';

create type logloom_private.alert_window as (
  rule_id uuid,
  window_start timestamptz,
  window_end timestamptz,
  value double precision,
  error text,
  "group" jsonb,
  absent boolean
);

comment on type logloom_private.alert_window is
  'A window of a rule and the value found in it, of a group where the rule has by.';

create type logloom_private.alert_reading as (
  records bigint,
  first_ts timestamptz,
  first_id uuid,
  is_complete boolean
);

comment on type logloom_private.alert_reading is
  'How many records were read, newest first, and the last of them in that order.';

-- alerts/tables/alert_rules.sql
create table logloom.alert_rules (
  rule_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  name text not null,
  description text,
  query_dsl text not null,
  threshold double precision not null,
  comparison text not null,
  window_minutes integer not null,
  cooldown_minutes integer not null,
  enabled boolean not null,
  notification_destinations text[] not null default '{}',
  notification_config jsonb not null default '{}',
  created_by text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  last_evaluated_at timestamptz,
  last_value double precision,
  last_error text,
  asked_at timestamptz not null default now(),
  view_id uuid,
  notify_on_recovery boolean not null default false,
  for_minutes integer not null default 0,
  on_absent text not null default 'ignore',
  group_wait_seconds integer not null default 0,
  -- Sealed by the function logloom-notify, which alone can open them.
  notification_secrets jsonb not null default '{}',
  constraint alert_rules_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint alert_rules_description_is_valid check (length(description) between 1 and 2000),
  -- NaN is greater than every number.
  constraint alert_rules_threshold_is_finite check (
    threshold > '-Infinity' and threshold < 'Infinity'
  ),
  constraint alert_rules_comparison_is_known check (
    comparison in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq')
  ),
  constraint alert_rules_window_is_valid check (window_minutes between 1 and 1440),
  constraint alert_rules_cooldown_is_valid check (cooldown_minutes between 0 and 10080),
  constraint alert_rules_destinations_are_known check (
    notification_destinations <@ '{email,webhook,slack,discord,teams,pagerduty}'
    and cardinality(notification_destinations) <= 6
  ),
  constraint alert_rules_config_is_object check (
    jsonb_typeof(notification_config) = 'object'
    and octet_length(notification_config::text) <= 8192
  ),
  -- One plain ASCII address, nothing around it.
  constraint alert_rules_email_is_valid check (
    length(notification_config ->> 'email') <= 254
    and notification_config ->> 'email' ~ (
      '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+'
      '[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$'
    )
  ),
  -- Plain HTTP only to this machine, for a receiver in development. Printable ASCII, no userinfo.
  -- Whether the host may be reached is checked when it is.
  constraint alert_rules_webhook_url_is_valid check (
    length(notification_config ->> 'webhook_url') <= 2048
    and notification_config ->> 'webhook_url' ~ '^[!-~]+$'
    and notification_config ->> 'webhook_url'
      ~ '^(https://[A-Za-z0-9[][^/?#@\\]*|http://127\.0\.0\.1(:[0-9]{1,5})?)([/?#].*)?$'
  ),
  constraint alert_rules_destinations_have_addresses check (
    not enabled
    or (
      (notification_config ->> 'email' is not null or not 'email' = any(notification_destinations))
      and (
        notification_config ->> 'webhook_url' is not null
        or not 'webhook' = any(notification_destinations)
      )
      and (notification_secrets ? 'slack_url' or not 'slack' = any(notification_destinations))
      and (notification_secrets ? 'discord_url' or not 'discord' = any(notification_destinations))
      and (notification_secrets ? 'teams_url' or not 'teams' = any(notification_destinations))
      and (
        notification_secrets ? 'pagerduty_key' or not 'pagerduty' = any(notification_destinations)
      )
    )
  ),
  constraint alert_rules_webhook_template_is_valid check (
    not notification_config ?| '{webhook_template,webhook_template_type}'
    or (
      jsonb_typeof(notification_config -> 'webhook_template') = 'string'
      and length(notification_config ->> 'webhook_template') between 1 and 4000
      and coalesce(notification_config ->> 'webhook_template_type', 'json') in ('json', 'text')
    ) is true
  ),
  constraint alert_rules_for_minutes_are_valid check (for_minutes between 0 and 1440),
  constraint alert_rules_on_absent_is_known check (on_absent in ('ignore', 'fire')),
  constraint alert_rules_group_wait_is_valid check (group_wait_seconds between 0 and 3600),
  constraint alert_rules_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
)
-- Every rule is updated every minute.
with (fillfactor = 70);

create index alert_rules_tenant_id_created_at_idx
on logloom.alert_rules (tenant_id, created_at desc, rule_id desc);

create index alert_rules_tenant_id_view_id_idx on logloom.alert_rules (tenant_id, view_id);

create policy alert_rules_select_tenant on logloom.alert_rules
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_rules_insert_tenant on logloom.alert_rules
for insert to authenticated
with check (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_rules_update_tenant on logloom.alert_rules
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_rules_delete_tenant on logloom.alert_rules
for delete to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select, delete on logloom.alert_rules to authenticated, service_role;

grant insert (
  tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
  cooldown_minutes, enabled, notification_destinations, notification_config, created_by,
  view_id, notify_on_recovery, for_minutes, on_absent, group_wait_seconds, notification_secrets
) on logloom.alert_rules to authenticated, service_role;

grant update (
  name, description, query_dsl, threshold, comparison, window_minutes, cooldown_minutes, enabled,
  notification_destinations, notification_config, updated_at, asked_at, view_id,
  notify_on_recovery, for_minutes, on_absent, group_wait_seconds, notification_secrets
) on logloom.alert_rules to authenticated, service_role;

comment on table logloom.alert_rules is
  'What a tenant wants to be told of: a query, its window, and the threshold of its value.';

comment on column logloom.alert_rules.created_by is
  'The claim sub of who made it. Every user of the tenant may change it.';

comment on column logloom.alert_rules.asked_at is
  'Since when it asks what it asks: made, enabled, or given another query, window or condition. '
  'Only windows that end later are evaluated.';

comment on column logloom.alert_rules.notification_config is
  'Free-form. email and webhook_url are the addresses of the destinations of these names, '
  'webhook_template and webhook_template_type (json or text) say what a webhook sends.';

comment on column logloom.alert_rules.notification_secrets is
  'Sealed texts by name: slack_url, discord_url, teams_url, pagerduty_key.';

comment on column logloom.alert_rules.for_minutes is
  'How long the condition holds before the rule fires.';

comment on column logloom.alert_rules.on_absent is
  'fire: a group of a rule with by that had records a while ago and has none now fires.';

comment on column logloom.alert_rules.group_wait_seconds is
  'So long notifications of several groups are collected into one.';

comment on column logloom.alert_rules.last_evaluated_at is 'End of the last window evaluated.';

comment on column logloom.alert_rules.last_value is 'Value over that window; null: no data.';

comment on column logloom.alert_rules.last_error is 'Why that window could not be evaluated.';

comment on column logloom.alert_rules.view_id is
  'The view that it is evaluated in. Null: all records of the tenant.';

-- alerts/tables/alert_groups.sql
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

-- alerts/tables/alert_incidents.sql
-- No foreign key on rule_id: what happened stays on record when the rule is deleted.
create table logloom.alert_incidents (
  incident_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid not null,
  rule_name text not null,
  query_dsl text,
  window_minutes integer not null,
  threshold double precision not null,
  comparison text,
  "group" jsonb,
  view_id uuid,
  opened_at timestamptz not null,
  last_fired_at timestamptz not null,
  fired_count integer not null default 1,
  value double precision not null,
  peak_value double precision not null,
  held_until timestamptz not null,
  resolved_at timestamptz,
  resolution text,
  quiet_from timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  constraint alert_incidents_resolution_is_known check (
    resolution in ('recovered', 'rule_changed', 'rule_disabled', 'rule_deleted')
  ),
  constraint alert_incidents_resolution_is_whole check (
    (resolved_at is null) = (resolution is null)
    and (quiet_from is null or resolution = 'recovered')
  ),
  constraint alert_incidents_acknowledgement_is_whole check (
    (acknowledged_at is null) = (acknowledged_by is null)
  )
)
-- An open one is updated every minute.
with (fillfactor = 70);

-- A rule has one incident open for each group.
create unique index alert_incidents_rule_id_open_idx
on logloom.alert_incidents (rule_id, (coalesce(md5("group"::text), '')))
where resolved_at is null;

create index alert_incidents_tenant_id_opened_at_idx
on logloom.alert_incidents (tenant_id, opened_at desc, incident_id desc);

create index alert_incidents_tenant_id_open_idx
on logloom.alert_incidents (tenant_id, opened_at desc, incident_id desc)
where resolved_at is null;

create index alert_incidents_rule_id_opened_at_idx
on logloom.alert_incidents (rule_id, opened_at desc, incident_id desc);

create index alert_incidents_resolved_at_idx on logloom.alert_incidents using brin (resolved_at);

create policy alert_incidents_select_tenant on logloom.alert_incidents
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_incidents_update_tenant on logloom.alert_incidents
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.alert_incidents to authenticated, service_role;

grant update (acknowledged_at, acknowledged_by) on logloom.alert_incidents
to authenticated, service_role;

comment on table logloom.alert_incidents is
  'A rule, and of a rule with by one of its groups, whose condition holds since it fired: from the '
  'first alert until a window in which it holds no longer.';

comment on column logloom.alert_incidents.rule_name is
  'This and what follows is of the rule when the incident opened. query_dsl and comparison are '
  'null of rules that were deleted before there were incidents.';

comment on column logloom.alert_incidents.value is
  'Of the last window in which the condition held.';

comment on column logloom.alert_incidents.peak_value is
  'Of such a window, the value that is farthest from the threshold.';

comment on column logloom.alert_incidents.held_until is
  'The end of the last window in which the condition held.';

comment on column logloom.alert_incidents.quiet_from is
  'The end of the window in which it held no longer.';

comment on column logloom.alert_incidents.acknowledged_by is
  'The claim sub of who acknowledged it first.';

-- alerts/tables/alert_history.sql
-- No foreign key on rule_id: what was found stays on record when the rule is deleted.
create table logloom.alert_history (
  alert_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid not null,
  triggered_at timestamptz not null default now(),
  value double precision not null,
  threshold double precision not null,
  acknowledged_at timestamptz,
  acknowledged_by text,
  notification_sent_at timestamptz,
  notification_channels text[] not null default '{}',
  notification_error text,
  window_start timestamptz,
  window_end timestamptz,
  "group" jsonb,
  view_id uuid,
  incident_id uuid references logloom.alert_incidents on delete set null,
  silence_id uuid,
  absent boolean not null default false,
  constraint alert_history_value_is_finite check (value > '-Infinity' and value < 'Infinity'),
  constraint alert_history_acknowledgement_is_whole check (
    (acknowledged_at is null) = (acknowledged_by is null)
  )
);

create index alert_history_tenant_id_triggered_at_idx
on logloom.alert_history (tenant_id, triggered_at desc, alert_id desc);

create index alert_history_tenant_id_rule_id_triggered_at_idx
on logloom.alert_history (tenant_id, rule_id, triggered_at desc, alert_id desc);

create index alert_history_incident_id_triggered_at_idx
on logloom.alert_history (incident_id, triggered_at desc, alert_id desc);

create index alert_history_triggered_at_idx on logloom.alert_history using brin (triggered_at);

-- A window fires once for each group, whoever evaluates it how often.
create unique index alert_history_rule_id_window_end_idx
on logloom.alert_history (rule_id, window_end, (coalesce(md5("group"::text), '')));

create policy alert_history_select_tenant on logloom.alert_history
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

create policy alert_history_update_tenant on logloom.alert_history
for update to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()))
with check (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.alert_history to authenticated, service_role;

grant update (acknowledged_at, acknowledged_by) on logloom.alert_history
to authenticated, service_role;

comment on table logloom.alert_history is
  'Each time a rule''s condition held, what was seen then, and who answered it.';

comment on column logloom.alert_history.threshold is 'The rule''s threshold at the time.';

comment on column logloom.alert_history.acknowledged_by is
  'The claim sub of who acknowledged it first.';

comment on column logloom.alert_history.notification_channels is 'Channels on which it arrived.';

comment on column logloom.alert_history.notification_error is
  'Why the last delivery that was given up could not be made.';

comment on column logloom.alert_history."group" is
  'The group that fired, {field: text}; null where the rule has no by.';

comment on column logloom.alert_history.window_end is
  'The value is of records from window_start to before window_end.';

comment on column logloom.alert_history.view_id is 'The view that the rule was evaluated in.';

comment on column logloom.alert_history.incident_id is 'The incident that it is part of.';

comment on column logloom.alert_history.silence_id is
  'The silence that kept it from being sent.';

comment on column logloom.alert_history.absent is
  'It fired since its group, which had sent before, sent nothing.';

-- alerts/tables/alert_partials.sql
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

-- alerts/tables/alert_plans.sql
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

-- alerts/tables/alert_round_writes.sql
create table logloom_private.alert_round_writes (
  tenant_id text primary key,
  first_ts timestamptz not null,
  records bigint not null
);

comment on table logloom_private.alert_round_writes is
  'What arrived for the last round, of tenants with rules: how many records, and the least ts, '
  'which says which windows that were evaluated are to be looked at again.';

-- alerts/tables/alert_rounds.sql
create table logloom_private.alert_rounds (
  singleton boolean primary key default true,
  window_end timestamptz not null,
  write_seq_from bigint not null,
  write_seq_to bigint not null,
  finished_at timestamptz,
  constraint alert_rounds_has_one_row check (singleton)
);

comment on table logloom_private.alert_rounds is
  'The last round: where its windows ended, and which write_seqs it added to the groups.';

-- alerts/tables/alert_silences.sql
create table logloom.alert_silences (
  silence_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid,
  "group" jsonb,
  starts_at timestamptz not null,
  ends_at timestamptz not null,
  comment text,
  created_by text not null,
  created_at timestamptz not null default now(),
  expired_at timestamptz,
  expired_by text,
  constraint alert_silences_end_after_they_begin check (ends_at > starts_at),
  constraint alert_silences_comment_is_valid check (length(comment) between 1 and 2000),
  constraint alert_silences_group_is_valid check (
    jsonb_typeof("group") = 'object' and octet_length("group"::text) <= 8192
  )
);

create index alert_silences_tenant_id_created_at_idx
on logloom.alert_silences (tenant_id, created_at desc, silence_id desc);

create index alert_silences_end_idx
on logloom.alert_silences (least(ends_at, expired_at));

create policy alert_silences_select_tenant on logloom.alert_silences
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.alert_silences to authenticated, service_role;

comment on table logloom.alert_silences is
  'For a time nothing is sent of alerts that match: of a rule, of groups with these members, or of '
  'all. Rules are evaluated, and the history says which silence it was.';

-- alerts/tables/alert_spending.sql
create table logloom_private.alert_spending (
  tenant_id text primary key,
  spent_ms double precision not null
);

comment on table logloom_private.alert_spending is
  'What the rules of a tenant took of the present round beyond what is done for all at once: who '
  'took least comes next.';

-- alerts/tables/alert_states.sql
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

-- alerts/tables/planned_alert_rules.sql
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

-- alerts/acknowledge_alert.sql
create function public.acknowledge_alert(p_alert_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_incident_id uuid;
begin
  perform logloom_private.require_parameter('p_alert_id', p_alert_id is null);
  -- Held before its entries: so does who fires one more.
  perform
  from logloom.alert_incidents i
  where i.tenant_id = v_tenant_id and i.incident_id = (
    select h.incident_id
    from logloom.alert_history h
    where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  )
  for no key update;
  -- The first acknowledgement stays on record.
  update logloom.alert_history h
  set
    acknowledged_at = coalesce(h.acknowledged_at, now()),
    acknowledged_by = coalesce(h.acknowledged_by, v_user_id)
  where h.tenant_id = v_tenant_id and h.alert_id = p_alert_id
  returning h.incident_id into v_incident_id;
  if not found then
    perform logloom_private.refuse('alerts.alert_not_found');
  end if;
  update logloom.alert_incidents i
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where i.tenant_id = v_tenant_id and i.incident_id = v_incident_id
    and i.acknowledged_at is null
    and not exists (
      select from logloom.alert_history h
      where h.incident_id = v_incident_id and h.acknowledged_at is null
    );
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.acknowledge_alert(uuid) is
  'Records that the caller answers an alert, and with the last of an incident''s alerts the '
  'incident. Again: no change. Errors: PT400, PT401, PT404.';

-- alerts/acknowledge_alert_incidents.sql
create function public.acknowledge_alert_incidents(p_incident_ids uuid[] default null)
returns public.logloom_alert_acknowledgement
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_user_id constant text := logloom_private.require_user_id();
  v_held uuid[];
  v_acknowledged integer;
begin
  perform logloom_private.require_parameter('p_incident_ids', p_incident_ids is null);
  if cardinality(p_incident_ids) not between 1 and 1000 then
    perform logloom_private.refuse('alerts.too_many_incidents');
  end if;
  -- In one order, so that two callers never wait for each other.
  v_held := array(
    select i.incident_id
    from logloom.alert_incidents i
    where i.tenant_id = v_tenant_id and i.incident_id = any (p_incident_ids)
    order by i.incident_id
    for no key update
  );
  if cardinality(v_held) = 0 then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  -- The first acknowledgement stays on record.
  update logloom.alert_incidents i
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where i.incident_id = any (v_held) and i.acknowledged_at is null;
  get diagnostics v_acknowledged = row_count;
  update logloom.alert_history h
  set acknowledged_at = now(), acknowledged_by = v_user_id
  where h.tenant_id = v_tenant_id and h.incident_id = any (v_held) and h.acknowledged_at is null;
  return row(true, v_acknowledged)::public.logloom_alert_acknowledgement;
end;
$$;

comment on function public.acknowledge_alert_incidents(uuid[]) is
  'Records that the caller answers incidents, 1 to 1000, with all their alerts. Those that nobody '
  'had acknowledged before are counted; ids that the tenant does not have are passed over, unless '
  'it has none of them. Errors: PT400, PT401, PT404.';

-- alerts/add_alert_partials_sql.sql
-- SQL that adds the partial values of alert_partials_sql to those that are there.
create function logloom_private.add_alert_partials_sql(
  p_source text,
  p_group logloom_private.alert_groups
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return 'insert into logloom_private.alert_partials as p '
    || '(group_id, minute, events, numbers, total, least, greatest) '
    || logloom_private.alert_partials_sql(p_source, p_group.filter, p_group.number_sql)
    || ' on conflict (group_id, minute) do update set '
    || 'events = p.events + excluded.events, numbers = p.numbers + excluded.numbers, '
    || 'total = coalesce(p.total + excluded.total, p.total, excluded.total), '
    || 'least = least(p.least, excluded.least), greatest = greatest(p.greatest, excluded.greatest)';
end;
$$;

-- alerts/add_alert_unit.sql
-- Adds staged records to groups with the same digest, of each those from an instant on that arrived
-- since its write sequence, and brings them to the round: all in one statement, or where one of
-- them makes it fail, each by itself. Each reads its own tenant's records by the index, never all.
create function logloom_private.add_alert_unit(
  p_table text,
  p_group_ids bigint[],
  p_froms timestamptz[],
  p_records numeric,
  p_round logloom_private.alert_rounds
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_group logloom_private.alert_groups;
begin
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_ids[1];
  execute logloom_private.add_alert_partials_sql(
    'select i.group_id, l.* from (select n.group_id, n.starts, g.tenant_id, g.filled_id, '
      || 'coalesce(g.write_seq, -1) as write_seq from unnest($1, $2) n (group_id, starts) '
      || 'join logloom_private.alert_groups g on g.group_id = n.group_id offset 0) i join '
      || p_table || ' l on l.tenant_id = i.tenant_id and l.ts >= i.starts '
      || 'where l.write_seq > i.write_seq '
      || 'and (l.ts > i.starts or i.filled_id is null or l.id >= i.filled_id)',
    v_group
  )
  using p_group_ids, p_froms;
  update logloom_private.alert_groups g
  set
    write_seq = p_round.write_seq_to,
    filled_from = i.starts,
    -- Of a few records a statement's own cost would be most of it.
    ms_per_record = case
      when p_records >= 100 then logloom_private.milliseconds_since(v_began) / p_records
      else g.ms_per_record
    end,
    retry_at = null,
    last_error = null,
    failures = 0
  from unnest(p_group_ids, p_froms) i (group_id, starts)
  where g.group_id = i.group_id;
exception when others then
  if cardinality(p_group_ids) = 1 then
    perform logloom_private.empty_alert_groups(
      p_group_ids, sqlerrm, p_round.window_end + interval '1 minute'
    );
    return;
  end if;
  for v_at in 1..cardinality(p_group_ids) loop
    perform logloom_private.add_alert_unit(
      p_table, p_group_ids[v_at:v_at], p_froms[v_at:v_at], 0, p_round
    );
  end loop;
end;
$$;

-- alerts/advance_alert_groups.sql
-- Adds what arrived to the groups that are cheap, those with the same filter together. True where
-- the deadline came before the end.
create function logloom_private.advance_alert_groups(
  p_round logloom_private.alert_rounds,
  p_deadline timestamptz
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_staged constant text := 'pg_temp.alert_writes';
  v_unit record;
begin
  for v_unit in
    select
      array_agg(u.group_id) as group_ids, array_agg(u.filled_from) as froms,
      sum(u.records) as records
    from (
      select
        g.*, a.records,
        sum(a.records) over (partition by g.digest order by g.group_id) / 20000 as part
      from logloom_private.alert_groups g
      join logloom_private.alert_round_writes a on a.tenant_id = g.tenant_id
      where g.write_seq < p_round.write_seq_to
        and logloom_private.is_cheap(a.records, g.ms_per_record)
    ) u
    group by u.digest, u.part
    order by sum(u.records * u.ms_per_record)
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, v_unit.records, p_round
    );
    if clock_timestamp() > p_deadline then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

-- alerts/alert_condition_holds.sql
-- Whether a value fires. No data, a null, never does.
create function logloom_private.alert_condition_holds(
  p_value double precision,
  p_comparison text,
  p_threshold double precision
)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    case p_comparison
      when 'gt' then p_value > p_threshold
      when 'gte' then p_value >= p_threshold
      when 'lt' then p_value < p_threshold
      when 'lte' then p_value <= p_threshold
      when 'eq' then p_value = p_threshold
      when 'neq' then p_value <> p_threshold
    end,
    false
  );
end;
$$;

-- alerts/alert_entry_of.sql
-- An alert as the operations show it; without what tells of addresses where these are not to be
-- seen. p_resolved_at: of its incident.
create function logloom_private.alert_entry_of(
  p_row logloom.alert_history,
  p_resolved_at timestamptz,
  p_sees_addresses boolean
)
returns public.logloom_alert_history_entry
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.alert_id, p_row.rule_id, p_row.tenant_id, p_row.triggered_at, p_row.value,
    p_row.threshold, p_row.acknowledged_at is not null, p_row.acknowledged_at,
    p_row.acknowledged_by, p_row.notification_sent_at is not null, p_row.notification_sent_at,
    case when p_sees_addresses then p_row.notification_channels else '{}' end,
    case when p_sees_addresses then p_row.notification_error end,
    p_row.window_start, p_row.window_end, p_row."group", p_row.incident_id, p_resolved_at,
    p_row.silence_id, p_row.absent
  );
end;
$$;

-- alerts/alert_health.sql
-- What health tells of alerts: degraded while rules wait, or rounds stay away.
create function logloom_private.alert_health(p_now timestamptz, p_watermark timestamptz)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_window_end timestamptz;
  v_has_rules constant boolean := exists (select from logloom.alert_rules r where r.enabled);
  v_waits boolean;
  v_reason text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select r.window_end into v_window_end from logloom_private.alert_rounds r
  where r.finished_at is not null;
  v_waits := v_has_rules
    and coalesce(p_now - p_watermark, 'infinity') > v_settings.alert_watermark_limit;
  if v_waits then
    v_reason := 'Rules wait until all that was acknowledged is visible';
  elsif v_has_rules and v_window_end is not null
    and logloom_private.silence_since(v_window_end, p_now) > v_settings.alert_round_limit
  then
    v_reason := logloom_private.silence_reason(
      'No round of the alert rules', logloom_private.silence_since(v_window_end, p_now),
      v_settings.alert_round_limit
    );
  end if;
  return logloom_private.health_grade(null, v_reason) || jsonb_build_object(
    'waiting', v_waits,
    'watermark_age_seconds', round(extract(epoch from p_now - p_watermark), 3),
    'evaluated_until', v_window_end
  );
end;
$$;

-- alerts/alert_incident_of.sql
-- open, acknowledged or resolved.
create function logloom_private.alert_incident_state(
  p_resolved_at timestamptz,
  p_acknowledged_at timestamptz
)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_resolved_at is not null then 'resolved'
    when p_acknowledged_at is not null then 'acknowledged'
    else 'open'
  end;
end;
$$;

-- An incident as the operations show it.
create function logloom_private.alert_incident_of(p_row logloom.alert_incidents)
returns public.logloom_alert_incident
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.incident_id, p_row.tenant_id, p_row.rule_id, p_row.rule_name, p_row.query_dsl,
    p_row.window_minutes, p_row."group",
    logloom_private.alert_incident_state(p_row.resolved_at, p_row.acknowledged_at),
    p_row.opened_at, p_row.last_fired_at, p_row.resolved_at, p_row.resolution, p_row.fired_count,
    p_row.value, p_row.peak_value, p_row.threshold,
    p_row.comparison::public.logloom_alert_comparison, p_row.acknowledged_at, p_row.acknowledged_by
  );
end;
$$;

-- alerts/alert_needs.sql
-- From when on each group's minutes are needed: for the windows that are due, and those that a late
-- record may open again. is_due: a rule of it was not evaluated yet.
create function logloom_private.alert_needs(p_round logloom_private.alert_rounds)
returns table (group_id bigint, needed_from timestamptz, is_due boolean)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    r.group_id,
    min(
      greatest(
        least(
          r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
        ),
        p_round.window_end - r.delay - s.alert_catch_up_limit
      ) - make_interval(mins => r.window_minutes)
    ),
    bool_or(
      r.asked_at < p_round.window_end - r.delay
      and r.last_evaluated_at is distinct from p_round.window_end
    )
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  where r.group_id is not null
  group by r.group_id;
end;
$$;

-- alerts/alert_number_sql.sql
-- The number that a query's aggregate takes of a record, as SQL over the alias l.
create function logloom_private.alert_number_sql(p_query logloom_private.compiled_query)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if coalesce(p_query.aggregate, 'count') in ('count', 'rate') then
    return 'null::numeric';
  end if;
  return 'logloom_private.json_number(' || logloom_private.query_value_sql(
    logloom_private.query_field(p_query.aggregate_field, 1), 'l'
  ) || ')';
end;
$$;

-- alerts/alert_partials_sql.sql
-- SQL of the partial values per group and minute of what a source yields: SQL with group_id and the
-- columns of logloom.logs.
create function logloom_private.alert_partials_sql(p_source text, p_filter text, p_number_sql text)
returns text
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  -- "offset 0" has the number computed once a record, not once an aggregate.
  return 'select m.group_id, m.minute, count(*) as events, count(m.number) as numbers, '
    || 'sum(m.number) as total, min(m.number) as least, max(m.number) as greatest '
    || 'from (select l.group_id, date_bin(''1 minute'', l.ts, ''epoch'') as minute, '
    || p_number_sql || ' as number from (' || p_source || ') l where (' || p_filter
    || ') offset 0) m group by m.group_id, m.minute';
end;
$$;

-- alerts/alert_rule_of.sql
-- An alert rule as the operations show it.
create function logloom_private.alert_rule_of(p_row logloom.alert_rules)
returns public.logloom_alert_rule
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.rule_id, p_row.tenant_id, p_row.name, p_row.description, p_row.query_dsl,
    p_row.threshold, p_row.comparison::public.logloom_alert_comparison, p_row.window_minutes,
    p_row.cooldown_minutes, p_row.enabled, p_row.notification_destinations,
    p_row.notification_config, p_row.created_at, p_row.updated_at, p_row.last_evaluated_at,
    p_row.last_value, p_row.last_error, p_row.view_id,
    p_row.notify_on_recovery, p_row.for_minutes, p_row.on_absent, p_row.group_wait_seconds,
    logloom_private.shown_secrets(p_row.notification_secrets)
  );
end;
$$;

-- alerts/alert_silence_of.sql
-- scheduled, active or expired.
create function logloom_private.alert_silence_state(
  p_starts_at timestamptz,
  p_ends_at timestamptz,
  p_expired_at timestamptz
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when p_expired_at is not null or p_ends_at <= now() then 'expired'
    when p_starts_at > now() then 'scheduled'
    else 'active'
  end;
end;
$$;

-- A silence as the operations show it.
create function logloom_private.alert_silence_of(p_row logloom.alert_silences)
returns public.logloom_alert_silence
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return row(
    p_row.silence_id, p_row.tenant_id,
    jsonb_strip_nulls(jsonb_build_object('rule_id', p_row.rule_id))
      || case when p_row."group" is null then '{}'
        else jsonb_build_object('group', p_row."group") end,
    p_row.starts_at, p_row.ends_at,
    logloom_private.alert_silence_state(p_row.starts_at, p_row.ends_at, p_row.expired_at),
    p_row.comment, p_row.created_by, p_row.created_at, p_row.expired_at, p_row.expired_by
  );
end;
$$;

-- The silence that keeps an alert of a rule and group from being sent at a time; null for none.
create function logloom_private.silence_of_alert(
  p_tenant_id text,
  p_rule_id uuid,
  p_group jsonb,
  p_at timestamptz
)
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select s.silence_id
    from logloom.alert_silences s
    where s.tenant_id = p_tenant_id
      and s.starts_at <= p_at
      and s.ends_at > p_at
      and s.expired_at is null
      and (s.rule_id is null or s.rule_id = p_rule_id)
      and (s."group" is null or p_group @> s."group")
    order by s.created_at, s.silence_id
    limit 1
  );
end;
$$;

-- alerts/begin_alert_round.sql
-- Brings the groups to where a round may add what arrived for it. Groups whose next write sequences
-- are not staged, or whose tenant lost records, are filled anew; those of tenants from which
-- nothing came are complete as they are. What no window needs any more is forgotten.
create function logloom_private.prepare_alert_groups(p_round logloom_private.alert_rounds)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_group_ids bigint[];
begin
  with removals as (
    delete from logloom_private.log_removals r returning r.tenant_id
  )
  select array_agg(g.group_id) into v_group_ids
  from logloom_private.alert_groups g
  where g.write_seq < p_round.write_seq_from
    or g.write_seq is not null and g.tenant_id in (select r.tenant_id from removals r);
  perform logloom_private.empty_alert_groups(v_group_ids);
  with needs as materialized (
    select n.group_id, n.needed_from - s.alert_grace as needed_from
    from logloom_private.alert_needs(p_round) n
    join logloom_private.alert_groups g on g.group_id = n.group_id
    join logloom_private.alert_round_writes a on a.tenant_id = g.tenant_id
    cross join logloom_private.settings s
    where g.filled_from < n.needed_from - s.alert_grace
  ), forgotten as (
    delete from logloom_private.alert_partials p
    using needs n
    where p.group_id = n.group_id and p.minute < n.needed_from
  )
  update logloom_private.alert_groups g
  set filled_from = n.needed_from, filled_id = null
  from needs n
  where n.group_id = g.group_id;
  update logloom_private.alert_groups g
  set write_seq = p_round.write_seq_to
  where g.write_seq < p_round.write_seq_to
    and not exists (
      select from logloom_private.alert_round_writes a where a.tenant_id = g.tenant_id
    );
  delete from logloom_private.alert_spending s where true;
end;
$$;

-- Opens the round for the minute that the watermark passed and stages its records. Null when there
-- is nothing to evaluate, or rules have to wait.
create function logloom_private.begin_alert_round(p_now timestamptz, p_watermark timestamptz)
returns logloom_private.alert_rounds
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_settings logloom_private.settings;
  v_last logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_window_minutes integer;
  v_from timestamptz;
begin
  select s.* into v_settings from logloom_private.settings s;
  -- Nobody else reads these.
  delete from logloom_private.log_removals r
  where not exists (
    select from logloom_private.alert_groups g where g.tenant_id = r.tenant_id
  );
  select r.* into v_last from logloom_private.alert_rounds r;
  if v_last.window_end > p_now then
    -- The clock went back: what is dated ahead would keep the rules waiting until then.
    v_last := null;
    update logloom.alert_rules r
    set
      last_evaluated_at = case when r.last_evaluated_at <= p_now then r.last_evaluated_at end,
      asked_at = least(r.asked_at, p_now)
    where r.last_evaluated_at > p_now or r.asked_at > p_now;
  end if;
  select max(r.window_minutes) into v_window_minutes from logloom.alert_rules r where r.enabled;
  v_round.window_end := date_trunc('minute', p_watermark);
  if v_window_minutes is null
    or p_watermark is null
    or p_now - p_watermark > v_settings.alert_watermark_limit
    or (v_round.window_end <= v_last.window_end and v_last.finished_at is not null)
  then
    return null;
  end if;

  v_from := v_round.window_end - make_interval(mins => v_window_minutes)
    - v_settings.alert_grace - v_settings.alert_catch_up_limit;
  if v_last.window_end > v_round.window_end - v_settings.alert_catch_up_limit is not true then
    -- Too long ago: every group reads its windows anew.
    v_last := null;
  end if;
  -- A day that is dropped takes its write sequences with it.
  v_round.write_seq_to := greatest(
    v_last.write_seq_to, (select max(a.write_seq) from logloom_private.log_writes a), 0
  );
  -- A round that was cut short is done again from where it began.
  v_round.write_seq_from := case
    when v_last.window_end is null then v_round.write_seq_to
    when v_last.finished_at is null then v_last.write_seq_from
    else v_last.write_seq_to
  end;

  insert into logloom_private.alert_rounds (window_end, write_seq_from, write_seq_to)
  values (v_round.window_end, v_round.write_seq_from, v_round.write_seq_to)
  on conflict (singleton) do update
  set (window_end, write_seq_from, write_seq_to, finished_at)
    = (excluded.window_end, excluded.write_seq_from, excluded.write_seq_to, null);
  perform logloom_private.stage_alert_writes(v_round, v_from);
  perform logloom_private.prepare_alert_groups(v_round);
  return v_round;
end;
$$;

-- alerts/changed_rule_secrets.sql
-- The secrets that a rule keeps after p_secrets: sealed addresses of channels.
create function logloom_private.changed_rule_secrets(p_current jsonb, p_secrets jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.changed_secrets(
    p_current, nullif(p_secrets, 'null'), '{slack_url,discord_url,teams_url,pagerduty_key}'
  );
end;
$$;

-- PT400 where a rule without groups is to fire when one of them stops.
create function logloom_private.require_groups(p_query_dsl text, p_on_absent text)
returns void
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
begin
  if p_on_absent = 'fire'
    and cardinality((logloom_private.compile_query(p_query_dsl)).by_fields) = 0
  then
    perform logloom_private.refuse('alerts.absent_needs_groups');
  end if;
end;
$$;

-- alerts/close_incidents_of_rule.sql
-- A rule that is deleted, disabled or asks something else is not going to say that it recovered:
-- its incidents end with it.
create function logloom_private.close_incidents_of_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role ends incidents
begin
  update logloom.alert_incidents i
  set
    resolved_at = now(),
    resolution = case
      when tg_op = 'DELETE' then 'rule_deleted'
      when new.enabled then 'rule_changed'
      else 'rule_disabled'
    end
  where i.rule_id = old.rule_id and i.resolved_at is null
    -- If not, they go with it.
    and exists (select from logloom.tenants t where t.tenant_id = i.tenant_id);
  delete from logloom_private.alert_states a where a.rule_id = old.rule_id;
  return case tg_op when 'DELETE' then old else new end;
end;
$$;

create trigger alert_rules_close_incidents_on_change
after update of enabled, asked_at on logloom.alert_rules
-- A clock that went back makes asked_at earlier.
for each row when (old.enabled and not new.enabled or new.asked_at > old.asked_at)
execute function logloom_private.close_incidents_of_rule();

-- Before: who is told of it is in the rule.
create trigger alert_rules_close_incidents_on_delete
before delete on logloom.alert_rules
for each row execute function logloom_private.close_incidents_of_rule();

-- alerts/compile_rule.sql
-- A rule's query within the view that it is evaluated in, if any: joined as trees. PT400 where it
-- names what the view hides, or an attribute beside that; PT403 where the tenant has no such view.
create function logloom_private.compile_rule(
  p_tenant_id text,
  p_query_dsl text,
  p_view_id uuid,
  p_now timestamptz default now()
)
returns logloom_private.compiled_query
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query logloom_private.compiled_query := logloom_private.compile_query(p_query_dsl, p_now);
  v_view logloom.log_views;
  v_shown logloom_private.compiled_query;
begin
  if p_view_id is null then
    return v_query;
  end if;
  select v.* into v_view
  from logloom.log_views v
  where v.tenant_id = p_tenant_id and v.view_id = p_view_id;
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  end if;
  if exists (
    select
    from unnest(
      logloom_private.query_reads(jsonb_build_array(v_query.tree, v_query.plan))
    ) r (name)
    cross join unnest(v_view.hidden_fields) h (name)
    where r.name = h.name
      or split_part(r.name, '.', 1) = 'attrs' and split_part(h.name, '.', 1) = 'attrs'
      and (
        'attrs' in (r.name, h.name) or split_part(r.name, '.', 2) = split_part(h.name, '.', 2)
      )
  ) then
    perform logloom_private.refuse('alerts.query_reads_what_is_hidden', v_view.name);
  end if;
  if v_view.query_dsl is null then
    return v_query;
  end if;
  v_shown := logloom_private.compile_query(v_view.query_dsl, p_now);
  v_query.tree := jsonb_build_object(
    'type', 'and', 'items', jsonb_build_array(v_shown.tree, v_query.tree)
  );
  v_query.filter := logloom_private.query_sql(v_query.tree, 'l');
  v_query.ts_from := greatest(v_query.ts_from, v_shown.ts_from);
  v_query.ts_to := least(v_query.ts_to, v_shown.ts_to);
  v_query.names_now := v_query.names_now or v_shown.names_now;
  return v_query;
end;
$$;

-- alerts/completed_preview.sql
-- Which of the values fire: each group has its own cooldown, and holds for itself.
create function logloom_private.preview_alerts(
  p_values logloom_private.alert_window[],
  p_rule logloom.alert_rules,
  p_step interval
)
returns public.logloom_alert_preview_entry[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value logloom_private.alert_window;
  v_last public.logloom_alert_preview_entry;
  v_before logloom_private.alert_window;
  v_since timestamptz;
  v_alerts public.logloom_alert_preview_entry[] := '{}';
begin
  for v_value in
    select w.*
    from unnest(p_values) w
    where logloom_private.alert_condition_holds(w.value, p_rule.comparison, p_rule.threshold)
    order by w."group", w.window_end
  loop
    if v_before.window_end + p_step = v_value.window_end is not true
      or v_value."group" is distinct from v_before."group"
    then
      v_since := v_value.window_end;
    end if;
    v_before := v_value;
    continue when v_value.window_end < v_since + make_interval(mins => p_rule.for_minutes);
    if v_last.window_end is null
      or v_value."group" is distinct from v_last."group"
      or v_value.window_end
        >= v_last.window_end + make_interval(mins => p_rule.cooldown_minutes)
    then
      v_last := row(v_value.window_start, v_value.window_end, v_value.value, v_value."group");
      v_alerts := v_alerts || v_last;
    end if;
  end loop;
  return v_alerts;
end;
$$;

-- A preview that has its times, with what a rule would have seen and fired. Of a rule with by, the
-- groups that fire most, or have the greatest values, have a series of their own.
create function logloom_private.completed_preview(
  p_preview public.logloom_alert_preview,
  p_values logloom_private.alert_window[],
  p_is_grouped boolean,
  p_rule logloom.alert_rules
)
returns public.logloom_alert_preview
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_step constant interval := make_interval(mins => p_preview.step_minutes);
  v_crowded timestamptz[];
  v_seen logloom_private.alert_window[];
  v_alerts public.logloom_alert_preview_entry[];
begin
  select s.* into v_settings from logloom_private.settings s;
  -- A window with more or longer groups than a rule looks at has no value: it fires for none.
  v_crowded := array(
    select w.window_end
    from unnest(p_values) w
    group by w.window_end
    having count(*) > v_settings.alert_groups
      or max(octet_length(w."group"::text)) > v_settings.alert_group_bytes
  );
  v_seen := array(select w from unnest(p_values) w where w.window_end <> all(v_crowded));
  v_alerts := logloom_private.preview_alerts(v_seen, p_rule, v_step);
  p_preview.total_alerts := cardinality(v_alerts);
  p_preview.alerts := array(
    select a
    from (
      select o.a, sum(octet_length((o.a)."group"::text)) over (
        order by (o.a).window_end desc, (o.a)."group"
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
      from (
        select a from unnest(v_alerts) a
        order by a.window_end desc, a."group"
        limit case when p_is_grouped then v_settings.preview_alerts end
      ) o
    ) n
    where coalesce(n.bytes_before, 0) < v_settings.max_page_bytes / 2
    order by (n.a).window_end, (n.a)."group"
  );
  p_preview.series := array(
    select row(e.window_end, max(w.value))::public.logloom_alert_preview_point
    from (
      select g from generate_series(p_preview.ts_from + v_step, p_preview.ts_to, v_step) g
      union
      select w.window_end from unnest(p_values) w
    ) e (window_end)
    left join unnest(v_seen) w on w.window_end = e.window_end
    group by e.window_end
    order by e.window_end
  );
  if not p_is_grouped then
    return p_preview;
  end if;
  p_preview.crowded_windows := cardinality(v_crowded);
  p_preview.total_groups := (select count(distinct w."group") from unnest(p_values) w);
  p_preview.groups := array(
    select row(g."group", g.alerts, g.series)::public.logloom_alert_preview_group
    from (
      select
        w."group", coalesce(a.alerts, 0)::integer as alerts, max(w.value) as greatest,
        array_agg(
          row(w.window_end, w.value)::public.logloom_alert_preview_point order by w.window_end
        ) as series
      from unnest(v_seen) w
      left join (
        select a."group", count(*) as alerts from unnest(v_alerts) a group by 1
      ) a on a."group" = w."group"
      group by w."group", a.alerts
      order by coalesce(a.alerts, 0) desc, greatest desc nulls last, w."group"
      limit v_settings.search_series
    ) g
    where octet_length(g."group"::text) < v_settings.max_page_bytes / 64
  );
  return p_preview;
end;
$$;

-- alerts/continued_alert_round.sql
-- The round that is finished but for what has to be read for itself. What arrived is staged again:
-- another session may have begun it.
create function logloom_private.continued_alert_round()
returns logloom_private.alert_rounds
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round logloom_private.alert_rounds;
begin
  select r.* into v_round
  from logloom_private.alert_rounds r, logloom_private.settings s
  where r.finished_at is not null and r.window_end > clock_timestamp() - s.alert_round_limit;
  if v_round.window_end is not null and exists (
    select from logloom_private.alert_groups g where g.write_seq < v_round.write_seq_to
  ) then
    perform logloom_private.stage_alert_writes(v_round, '-infinity');
  end if;
  return v_round;
end;
$$;

-- alerts/create_alert_rule.sql
create function public.create_alert_rule(
  p_tenant_id text default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null,
  p_view_id uuid default null,
  p_notify_on_recovery boolean default null,
  p_for_minutes integer default null,
  p_on_absent text default null,
  p_group_wait_seconds integer default null,
  p_secrets jsonb default null,
  p_saved_search_id uuid default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_search logloom.saved_searches;
  v_constraint text;
  v_row logloom.alert_rules;
begin
  if p_saved_search_id is not null then
    select s.* into v_search
    from logloom.saved_searches s
    where s.tenant_id = v_tenant_id and s.id = p_saved_search_id;
    if not found then
      perform logloom_private.refuse('saved_searches.not_found');
    end if;
  end if;
  v_search.name := coalesce(p_name, v_search.name);
  v_search.query_dsl := coalesce(p_query_dsl, v_search.query_dsl);
  perform logloom_private.require_parameter('p_name', v_search.name is null);
  perform logloom_private.require_parameter('p_query_dsl', v_search.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', p_threshold is null);
  perform logloom_private.require_parameter('p_comparison', p_comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', p_window_minutes is null);
  perform logloom_private.require_parameter('p_cooldown_minutes', p_cooldown_minutes is null);
  perform logloom_private.require_parameter('p_enabled', p_enabled is null);
  perform logloom_private.check_query(v_search.query_dsl, true);
  perform logloom_private.require_groups(v_search.query_dsl, p_on_absent);
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  perform logloom_private.require_rule_in_view(v_tenant_id, v_search.query_dsl, p_view_id);
  perform logloom_private.require_room_for('alerts', p_tenant_id);
  insert into logloom.alert_rules as r (
    tenant_id, name, description, query_dsl, threshold, comparison, window_minutes,
    cooldown_minutes, enabled, notification_destinations, notification_config, created_by, view_id,
    notify_on_recovery, for_minutes, on_absent, group_wait_seconds, notification_secrets
  )
  values (
    v_tenant_id, logloom_private.trim_space(v_search.name),
    nullif(logloom_private.trim_space(p_description), ''),
    v_search.query_dsl, p_threshold, p_comparison, p_window_minutes, p_cooldown_minutes, p_enabled,
    logloom_private.distinct_destinations(p_notification_destinations),
    coalesce(nullif(p_notification_config, 'null'), '{}'), logloom_private.current_user_id(),
    p_view_id, coalesce(p_notify_on_recovery, false), coalesce(p_for_minutes, 0),
    coalesce(p_on_absent, 'ignore'), coalesce(p_group_wait_seconds, 0),
    logloom_private.changed_rule_secrets('{}', p_secrets)
  )
  returning r.* into v_row;
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$$;

comment on function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb, uuid
) is
  'Creates an alert rule and returns it. p_comparison: gt, gte, lt, lte, eq or neq. '
  'p_window_minutes 1 to 1440, p_cooldown_minutes 0 to 10080. p_notification_destinations: email, '
  'webhook, whose addresses are in p_notification_config (email, webhook_url); slack, discord, '
  'teams, pagerduty, whose sealed addresses are in p_secrets (slack_url, discord_url, teams_url, '
  'pagerduty_key). p_view_id, for admins: the view that it is evaluated in. p_saved_search_id: '
  'where name and query come from unless given. p_for_minutes 0 to 1440, p_on_absent ignore or '
  'fire, p_group_wait_seconds 0 to 3600. Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

-- alerts/create_alert_silence.sql
-- Makes a silence for the tenant of the caller.
create function logloom_private.make_alert_silence(
  p_tenant_id text,
  p_matcher jsonb,
  p_from text,
  p_to text,
  p_comment text
)
returns public.logloom_alert_silence
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes silences, which keep others from being told
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_max constant integer := (logloom_private.plan_of(v_tenant_id)).max_alert_silences;
  v_from constant timestamptz := coalesce(
    logloom_private.time_parameter('p_from', p_from), now()
  );
  v_to constant timestamptz := logloom_private.time_parameter('p_to', p_to);
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_matcher', p_matcher is null);
  perform logloom_private.require_parameter('p_to', p_to is null);
  if jsonb_typeof(p_matcher) <> 'object'
    or p_matcher - '{rule_id,group}'::text[] <> '{}'
    or p_matcher ? 'rule_id' and not (
      jsonb_typeof(p_matcher -> 'rule_id') = 'string'
      and pg_input_is_valid(p_matcher ->> 'rule_id', 'uuid')
    )
    or p_matcher ? 'group' and not (
      jsonb_typeof(p_matcher -> 'group') = 'object'
      and octet_length((p_matcher -> 'group')::text) <= 8192
      and not jsonb_path_exists(
        p_matcher -> 'group', '$.* ? (@.type() != "string" && @.type() != "null")'
      )
    )
  then
    perform logloom_private.refuse('alerts.matcher_is_invalid');
  elsif v_to <= v_from or v_to <= now() then
    perform logloom_private.refuse('alerts.silence_ends_too_early');
  elsif length(logloom_private.trim_space(p_comment)) > 2000 then
    perform logloom_private.refuse('alerts.silence_comment_is_too_long');
  elsif p_matcher ? 'rule_id' and not exists (
    select from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = (p_matcher ->> 'rule_id')::uuid
  ) then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  perform pg_advisory_xact_lock(
    logloom_private.lock_key('alerts'), hashtext(v_tenant_id)
  );
  if (
    select count(*) >= v_max
    from logloom.alert_silences s
    where s.tenant_id = v_tenant_id and s.ends_at > now() and s.expired_at is null
  ) then
    perform logloom_private.refuse('alerts.no_room_for_silence', v_max::text);
  end if;
  insert into logloom.alert_silences (
    tenant_id, rule_id, "group", starts_at, ends_at, comment, created_by
  )
  values (
    v_tenant_id, (p_matcher ->> 'rule_id')::uuid, p_matcher -> 'group', v_from, v_to,
    nullif(logloom_private.trim_space(p_comment), ''), logloom_private.actor()
  )
  returning * into v_row;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'alert_silence.created', v_row.silence_id::text,
    jsonb_build_object('rule_id', v_row.rule_id, 'starts_at', v_from, 'ends_at', v_to)
  );
  return logloom_private.alert_silence_of(v_row);
end;
$$;

create function public.create_alert_silence(
  p_matcher jsonb default null,
  p_from text default null,
  p_to text default null,
  p_comment text default null,
  p_tenant_id text default null
)
returns public.logloom_alert_silence
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.make_alert_silence(p_tenant_id, p_matcher, p_from, p_to, p_comment);
end;
$$;

comment on function public.create_alert_silence(jsonb, text, text, text, text) is
  'From p_from (now) to p_to nothing is sent of alerts that p_matcher matches: {"rule_id": …}, '
  '{"group": {field: text}}, both, or {} for all. They are evaluated and kept all the same. '
  'Errors: PT400 (plan limit, too), PT401, PT403, PT404.';

-- alerts/delete_alert_rule.sql
create function public.delete_alert_rule(p_rule_id uuid default null)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  delete from logloom.alert_rules r where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return row(true)::public.logloom_success;
end;
$$;

comment on function public.delete_alert_rule(uuid) is
  'Deletes an alert rule; its history stays. Errors: PT400, PT401, PT404.';

-- alerts/distinct_destinations.sql
-- Each destination once, in the order of the first mention.
create function logloom_private.distinct_destinations(p_destinations text[])
returns text[]
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select d.destination
    from unnest(p_destinations) with ordinality d (destination, i)
    group by d.destination
    order by min(d.i)
  );
end;
$$;

-- alerts/due_alert_windows.sql
-- The windows that a round evaluates: the new ones, and open ones into which records came late. Of
-- a rule with a delay, those that are closed since.
create function logloom_private.due_alert_windows(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds
)
returns setof logloom_private.alert_window
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    r.rule_id, e.window_end - make_interval(mins => r.window_minutes), e.window_end,
    null::double precision, null::text, null::jsonb, null::boolean
  from logloom_private.planned_alert_rules r
  cross join logloom_private.settings s
  left join logloom_private.alert_round_writes a on a.tenant_id = r.tenant_id
  cross join lateral generate_series(
    greatest(
      least(
        r.last_evaluated_at + interval '1 minute' - r.delay, p_round.window_end - s.alert_grace
      ),
      p_round.window_end - r.delay - s.alert_catch_up_limit
    ),
    p_round.window_end - r.delay,
    '1 minute'
  ) e (window_end)
  where r.rule_id = any(p_rule_ids)
    -- A window that ended before the rule was what it is now holds less than a search showed then:
    -- the first is the next round's.
    and e.window_end > r.asked_at
    -- Of the time before its first evaluation, only the last window.
    and (r.last_evaluated_at is not null or e.window_end = p_round.window_end - r.delay)
    -- A window that was evaluated is looked at again only where something came late.
    and (
      r.last_evaluated_at is null
      or e.window_end > r.last_evaluated_at - r.delay
      or e.window_end > a.first_ts
    );
end;
$$;

-- alerts/empty_alert_groups.sql
-- Has groups filled anew from the records, those that failed not before p_retry_at.
create function logloom_private.empty_alert_groups(
  p_group_ids bigint[],
  p_error text default null,
  p_retry_at timestamptz default null
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom_private.alert_groups g
  set write_seq = null, filled_from = null, filled_id = null, records_read = 0, spent_ms = 0,
    last_error = p_error, retry_at = p_retry_at
  where g.group_id = any(p_group_ids);
end;
$$;

-- alerts/empty_staging_table.sql
-- Makes a temporary table for records, or empties the one that this session has.
create function logloom_private.empty_staging_table(
  p_table text,
  p_is_indexed boolean default true
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass(p_table) is not null then
    execute 'truncate ' || p_table;
    return;
  end if;
  execute 'create temp table ' || p_table || ' (like logloom.logs)';
  if p_is_indexed then
    execute 'create index on ' || p_table || ' (tenant_id, ts, id)';
  end if;
end;
$$;

-- alerts/evaluate_alerts.sql
-- A turn of what is not done for all tenants at once: plans new rules, fills new groups, or reads
-- what one tenant's groups lack, about alert_rule_budget long. Alerts fired, or null where nothing
-- was left to do.
create function logloom_private.read_alert_windows(
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
declare
  v_began constant timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
  v_rule_ids uuid[];
  v_group_ids bigint[];
  v_pending record;
  v_tenant_id text;
  v_fired integer := 0;
begin
  select s.* into v_settings from logloom_private.settings s;
  v_rule_ids := logloom_private.plan_alert_rules(p_now, v_settings.alert_step_rules / 2);
  if cardinality(v_rule_ids) > 0 then
    return logloom_private.judge_alert_rules(v_rule_ids, p_round, p_now);
  end if;
  v_group_ids := logloom_private.fill_small_alert_groups(p_round, v_settings.alert_step_rules * 2);
  if cardinality(v_group_ids) = 0 then
    for v_pending in
      with pending as materialized (
        select p.* from logloom_private.pending_alert_groups(p_round) p
      )
      select p.*
      from pending p
      where p.tenant_id = (
        select f.tenant_id
        from pending f
        left join logloom_private.alert_spending s on s.tenant_id = f.tenant_id
        -- Who took least of this round comes first.
        order by coalesce(s.spent_ms, 0), f.tenant_id
        limit 1
      )
      order by p.has_partials desc, p.cost, p.group_id
    loop
      v_tenant_id := v_pending.tenant_id;
      v_group_ids := v_group_ids || v_pending.group_id;
      begin
        if v_pending.has_partials then
          perform logloom_private.read_alert_group(
            v_pending.group_id, v_pending.needed_from, p_round, p_now,
            v_began + v_settings.alert_rule_budget
          );
        else
          v_fired := v_fired
            + logloom_private.scan_alert_group(v_pending.group_id, p_round, p_now);
        end if;
      exception when others then
        perform logloom_private.empty_alert_groups(
          array[v_pending.group_id], sqlerrm, p_round.window_end + interval '1 minute'
        );
      end;
      exit when clock_timestamp() > v_began + v_settings.alert_rule_budget;
    end loop;
    if v_tenant_id is null then
      return null;
    end if;
  end if;
  v_fired := v_fired + logloom_private.judge_alert_rules(
    array(
      select r.rule_id
      from logloom_private.planned_alert_rules r
      where r.group_id = any(v_group_ids)
    ),
    p_round, p_now
  );
  if v_tenant_id is not null then
    insert into logloom_private.alert_spending as s (tenant_id, spent_ms)
    values (v_tenant_id, logloom_private.milliseconds_since(v_began))
    on conflict (tenant_id) do update set spent_ms = s.spent_ms + excluded.spent_ms;
  end if;
  return v_fired;
end;
$$;

-- A round where a minute has passed, then turns of reading until nothing is left or its time is up.
-- Called by pg_cron every few seconds; most calls find nothing to do. No set clause and not
-- definer: such a procedure could not commit. Every name and every type is qualified, since one of
-- that name in pg_temp would come first.
create procedure logloom_private.evaluate_alerts()
language plpgsql
as $$
declare
  v_started_at constant pg_catalog.timestamptz := pg_catalog.clock_timestamp();
  v_deadline constant pg_catalog.timestamptz := logloom_private.job_deadline(v_started_at);
  v_begun logloom_private.alert_rounds;
  v_round logloom_private.alert_rounds;
  v_step_rules constant pg_catalog.int4 :=
    (select s.alert_step_rules from logloom_private.settings s);
  v_rule_ids pg_catalog.uuid[];
  v_is_cut_short pg_catalog.bool := false;
  v_turn pg_catalog.int4;
  v_error pg_catalog.text;
begin
  -- Not two at a time; a session that is killed lets go.
  if not pg_catalog.pg_try_advisory_lock(logloom_private.lock_key('alerts')) then
    return;
  end if;
  loop
    begin
      v_begun := logloom_private.begin_alert_round(
        pg_catalog.clock_timestamp(), logloom_private.watermark(
          (logloom_private.queue_state()).oldest_received_at
        )
      );
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null;

    -- What is cheap, for all tenants.
    if v_begun.window_end is not null then
      v_round := v_begun;
      loop
        begin
          exit when not logloom_private.advance_alert_groups(
            v_round, pg_catalog.clock_timestamp() + '1 second'::pg_catalog.interval
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
          exit;
        end;
        commit;
      end loop;
      v_rule_ids := '{}';
      loop
        v_rule_ids := logloom_private.next_alert_rules(
          v_rule_ids[pg_catalog.cardinality(v_rule_ids)], v_step_rules, v_round
        );
        exit when pg_catalog.cardinality(v_rule_ids) = 0;
        v_is_cut_short := pg_catalog.clock_timestamp() > v_deadline;
        exit when v_is_cut_short;
        begin
          perform logloom_private.judge_alert_rules(
            v_rule_ids, v_round, pg_catalog.clock_timestamp()
          );
        exception when query_canceled or others then
          v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
        end;
        commit;
      end loop;
      -- The next run goes on with the rules that this round has not evaluated yet.
      exit when v_is_cut_short;
      -- All was evaluated that does not have to be read for itself.
      update logloom_private.alert_rounds r
      set finished_at = pg_catalog.clock_timestamp() where r.singleton;
      commit;
    end if;
    exit when v_error is not null or pg_catalog.clock_timestamp() > v_deadline;

    -- What is not: a turn at a time, so that the next round waits for one at most.
    if v_round.window_end is null then
      v_round := logloom_private.continued_alert_round();
      commit;
      exit when v_round.window_end is null;
    end if;
    begin
      v_turn := logloom_private.read_alert_windows(v_round, pg_catalog.clock_timestamp());
    exception when query_canceled or others then
      v_error := pg_catalog.format('%s: %s', sqlstate, sqlerrm);
    end;
    commit;
    exit when v_error is not null or v_turn is null;
  end loop;
  perform logloom_private.record_job('evaluate_alerts', v_started_at, v_error);
  commit;
  perform pg_catalog.pg_advisory_unlock(logloom_private.lock_key('alerts'));
end;
$$;

-- alerts/expire_alert_silence.sql
-- Ends a silence of the caller's tenant.
create function logloom_private.end_alert_silence(p_tenant_id text, p_silence_id uuid)
returns public.logloom_alert_silence
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes silences, which keep others from being told
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_row logloom.alert_silences;
begin
  perform logloom_private.require_parameter('p_silence_id', p_silence_id is null);
  select s.* into v_row
  from logloom.alert_silences s
  where s.tenant_id = v_tenant_id and s.silence_id = p_silence_id
  for update;
  if not found then
    perform logloom_private.refuse('alerts.silence_not_found');
  end if;
  -- One that is over stays as it ended.
  if v_row.expired_at is null and v_row.ends_at > now() then
    update logloom.alert_silences s
    set expired_at = now(), expired_by = logloom_private.actor()
    where s.silence_id = p_silence_id
    returning s.* into v_row;
    insert into logloom.audit_events (tenant_id, actor, action, subject, details)
    values (
      v_tenant_id, logloom_private.actor(), 'alert_silence.expired', p_silence_id::text,
      jsonb_build_object('rule_id', v_row.rule_id, 'ends_at', v_row.ends_at)
    );
  end if;
  return logloom_private.alert_silence_of(v_row);
end;
$$;

create function public.expire_alert_silence(
  p_silence_id uuid default null,
  p_tenant_id text default null
)
returns public.logloom_alert_silence
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.end_alert_silence(p_tenant_id, p_silence_id);
end;
$$;

comment on function public.expire_alert_silence(uuid, text) is
  'Ends a silence now and returns it; one that is over stays as it was. '
  'Errors: PT400, PT401, PT403, PT404.';

-- alerts/fill_small_alert_groups.sql
-- Fills new groups whose windows hold few records, p_limit at most, all at once. Which ones.
create function logloom_private.fill_small_alert_groups(
  p_round logloom_private.alert_rounds,
  p_limit integer
)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_staged constant text := 'pg_temp.alert_backlog';
  -- What is older may be sealed, and is read tenant by tenant.
  v_from constant timestamptz := p_round.window_end - (
    select s.seal_after - s.alert_round_limit from logloom_private.settings s
  );
  v_new record;
  v_records bigint;
  v_group_ids bigint[];
  v_froms timestamptz[];
  v_unit record;
begin
  for v_new in
    select n.group_id, n.needed_from, g.tenant_id, g.ms_per_record
    from logloom_private.alert_needs(p_round) n
    join logloom_private.alert_groups g on g.group_id = n.group_id
    where g.write_seq is null
      and g.filter is not null
      and coalesce(g.retry_at <= p_round.window_end, true)
      and n.needed_from >= v_from
    order by n.group_id
  loop
    -- By itself, because the counts may be on another node.
    v_records := coalesce(
      (
        select sum(c.events)
        from logloom_private.log_counts c
        where c.tenant_id = v_new.tenant_id and c.minute >= v_new.needed_from - interval '1 minute'
      ),
      0
    );
    if v_records <= 1000 and logloom_private.is_cheap(v_records, v_new.ms_per_record) then
      v_group_ids := v_group_ids || v_new.group_id;
      v_froms := v_froms || v_new.needed_from;
      exit when cardinality(v_group_ids) = p_limit;
    end if;
  end loop;
  if v_group_ids is null then
    return '{}';
  end if;
  delete from logloom_private.alert_partials p where p.group_id = any(v_group_ids);
  perform logloom_private.empty_staging_table(v_staged);
  execute format(
    'insert into %s select l.* from (select g.tenant_id, min(n.starts) as starts '
      || 'from unnest($1, $2) n (group_id, starts) '
      || 'join logloom_private.alert_groups g on g.group_id = n.group_id group by 1) t '
      || 'join logloom.logs l on l.tenant_id = t.tenant_id and l.ts >= t.starts '
      || 'where l.ts >= %L::timestamptz and l.write_seq <= %s',
    v_staged, (select min(f.starts) from unnest(v_froms) f (starts)), p_round.write_seq_to
  )
  using v_group_ids, v_froms;
  for v_unit in
    select array_agg(g.group_id) as group_ids, array_agg(n.starts) as froms
    from unnest(v_group_ids, v_froms) n (group_id, starts)
    join logloom_private.alert_groups g on g.group_id = n.group_id
    group by g.digest
  loop
    perform logloom_private.add_alert_unit(
      v_staged, v_unit.group_ids, v_unit.froms, 0, p_round
    );
  end loop;
  return v_group_ids;
end;
$$;

-- alerts/fire_alert.sql
-- Fires an alert of a rule whose condition held in a window, unless its cooldown has not passed or
-- the window fired before. Whether it did.
create function logloom_private.fire_alert(
  p_rule logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now timestamptz
)
returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_cooldown constant interval := make_interval(mins => p_rule.cooldown_minutes);
begin
  -- From window to window, so that the moments at which rounds happen to run do not matter. In
  -- both directions: a late record may make an earlier window fire after a later one did.
  if exists (
    select from logloom.alert_history h
    where h.rule_id = p_rule.rule_id
      and h."group" is not distinct from p_window."group"
      and (
        h.window_end = p_window.window_end
        or h.window_end > p_window.window_end - v_cooldown
        and h.window_end < p_window.window_end + v_cooldown
      )
  ) then
    perform logloom_private.held_incident(p_rule, p_window, p_now, false);
    return false;
  end if;
  insert into logloom.alert_history (
    tenant_id, rule_id, triggered_at, value, threshold, window_start, window_end,
    "group", view_id, incident_id, silence_id, absent
  )
  values (
    p_rule.tenant_id, p_rule.rule_id, p_now, p_window.value, p_rule.threshold,
    p_window.window_start, p_window.window_end, p_window."group", p_rule.view_id,
    logloom_private.held_incident(p_rule, p_window, p_now, true),
    logloom_private.silence_of_alert(
      p_rule.tenant_id, p_rule.rule_id, p_window."group", p_now
    ),
    p_window.absent is true
  )
  on conflict (rule_id, window_end, (coalesce(md5("group"::text), ''))) do nothing;
  return found;
end;
$$;

-- alerts/get_alert_rule.sql
create function public.get_alert_rule(p_rule_id uuid default null)
returns public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant();
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  select r.* into v_row
  from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  return logloom_private.alert_rule_of(v_row);
end;
$$;

comment on function public.get_alert_rule(uuid) is
  'An alert rule of the tenant. Errors: PT400, PT401, PT404.';

-- alerts/has_partials.sql
-- Whether the value of a window follows from those of its minutes.
create function logloom_private.has_partials(p_query logloom_private.compiled_query)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(p_query.aggregate, 'count') in ('count', 'rate', 'sum', 'avg', 'min', 'max')
    and not p_query.names_now
    and cardinality(p_query.by_fields) = 0;
end;
$$;

-- alerts/held_incident.sql
-- Notes that a rule's condition held in a window, and of which incident that is part: the open one
-- or, where this window was thought to be quiet or the rule's cooldown keeps it silent, the last
-- one, which is open again. Where the rule fires and there is none, a new one. Null without one.
create function logloom_private.held_incident(
  p_rule logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now timestamptz,
  p_fires boolean
)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_incident_id uuid;
begin
  update logloom.alert_incidents i
  set
    resolved_at = null,
    resolution = null,
    quiet_from = null,
    last_fired_at = case when p_fires then p_now else i.last_fired_at end,
    fired_count = i.fired_count + p_fires::integer,
    value = case when p_window.window_end >= i.held_until then p_window.value else i.value end,
    peak_value = case
      when abs(p_window.value - i.threshold) > abs(i.peak_value - i.threshold) then p_window.value
      else i.peak_value
    end,
    held_until = greatest(i.held_until, p_window.window_end)
  from (
    select l.incident_id
    from logloom.alert_incidents l
    where l.rule_id = p_rule.rule_id and l."group" is not distinct from p_window."group"
    -- Several may have been opened at once, by windows that were caught up with.
    order by l.opened_at desc, l.held_until desc
    limit 1
  ) l
  where i.incident_id = l.incident_id
    and (
      i.resolved_at is null
      or i.resolution = 'recovered' and (not p_fires or p_window.window_end <= i.quiet_from)
    )
  returning i.incident_id into v_incident_id;
  if not found and p_fires then
    insert into logloom.alert_incidents (
      tenant_id, rule_id, rule_name, query_dsl, window_minutes, threshold, comparison, "group",
      view_id, opened_at, last_fired_at, value, peak_value, held_until
    )
    values (
      p_rule.tenant_id, p_rule.rule_id, p_rule.name, p_rule.query_dsl, p_rule.window_minutes,
      p_rule.threshold, p_rule.comparison, p_window."group", p_rule.view_id, p_now, p_now,
      p_window.value, p_window.value, p_window.window_end
    )
    returning incident_id into v_incident_id;
  end if;
  return v_incident_id;
end;
$$;

-- alerts/is_cheap.sql
-- Whether so many records are expected to take 20 ms at most.
create function logloom_private.is_cheap(p_records bigint, p_ms_per_record double precision)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_records <= 5000 and p_records * coalesce(p_ms_per_record, 0.02) <= 20;
end;
$$;

-- alerts/judge_alert_rules.sql
-- Evaluates those of the rules that can be: the due windows of those whose groups are complete, and
-- the last window of those that have an error, or that rest since they cost too much. Alerts fired.
create function logloom_private.judge_alert_rules(
  p_rule_ids uuid[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO'
as $$
begin
  return logloom_private.settle_alert_windows(
    array(
      with due as materialized (
        select d.rule_id, d.window_start, d.window_end, r.group_id, r.aggregate, r.window_minutes,
          min(d.window_start) over (partition by d.rule_id) as first_start
        from logloom_private.due_alert_windows(p_rule_ids, p_round) d
        join logloom_private.planned_alert_rules r on r.rule_id = d.rule_id
      )
      select row(
        d.rule_id, d.window_start, d.window_end,
        logloom_private.partial_value(
          d.aggregate, d.window_minutes, t.events, t.numbers, t.total, t.least, t.greatest
        ),
        null, null, null
      )::logloom_private.alert_window
      from due d
      join logloom_private.alert_groups g on g.group_id = d.group_id
      cross join lateral (
        select
          sum(m.events) as events, sum(m.numbers) as numbers, sum(m.total) as total,
          min(m.least) as least, max(m.greatest) as greatest
        from logloom_private.alert_partials m
        where m.group_id = d.group_id and m.minute >= d.window_start and m.minute < d.window_end
      ) t
      where g.write_seq >= p_round.write_seq_to
        and (
          g.filled_from < d.first_start or (g.filled_from = d.first_start and g.filled_id is null)
        )
      union all
      select row(
        r.rule_id, p_round.window_end, p_round.window_end, null,
        coalesce(r.refusal, g.last_error), null, null
      )::logloom_private.alert_window
      from logloom_private.planned_alert_rules r
      left join logloom_private.alert_groups g on g.group_id = r.group_id
      where r.rule_id = any(p_rule_ids)
        and r.asked_at < p_round.window_end
        and (
          r.refusal is not null
          or (g.last_error is not null and g.retry_at > p_round.window_end)
        )
    ),
    p_round, p_now
  );
end;
$$;

-- alerts/lasting_windows.sql
-- What of a rule holds in a window once its for_minutes and on_absent are looked at: p_seen are its
-- values there, p_holding those whose condition holds. It notes what it saw for later windows.
create function logloom_private.lasting_windows(
  p_rule logloom.alert_rules,
  p_window_end timestamptz,
  p_seen logloom_private.alert_window[],
  p_holding logloom_private.alert_window[]
)
returns logloom_private.alert_window[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_holding logloom_private.alert_window[] := p_holding;
begin
  select s.* into v_settings from logloom_private.settings s;
  if p_rule.on_absent = 'fire' then
    v_holding := v_holding || array(
      select row(
        p_rule.rule_id, p_window_end - make_interval(mins => p_rule.window_minutes), p_window_end,
        0, null, a."group", true
      )::logloom_private.alert_window
      from logloom_private.alert_states a
      where a.rule_id = p_rule.rule_id
        and a.seen_at < p_window_end
        and a.seen_at >= p_window_end - make_interval(
          mins => p_rule.window_minutes * v_settings.alert_absent_windows
        )
        and not exists (
          select from unnest(p_seen) s where md5(s."group"::text) = a.group_key
        )
      order by a.seen_at desc, a.group_key
      limit v_settings.alert_groups
    );
  end if;
  insert into logloom_private.alert_states as a (rule_id, group_key, "group", seen_at, holds_since)
  select
    p_rule.rule_id, w.group_key, w."group",
    case when w.is_seen and p_rule.on_absent = 'fire' then p_window_end end,
    case when w.holds then p_window_end end
  from (
    select
      coalesce(md5(u."group"::text), '') as group_key, (array_agg(u."group"))[1] as "group",
      bool_or(u.holds) as holds, bool_or(not u.holds or u.absent is not true) as is_seen
    from (
      select h."group", h.absent, true as holds from unnest(v_holding) h
      union all
      select s."group", s.absent, false from unnest(p_seen) s where p_rule.on_absent = 'fire'
    ) u
    group by 1
  ) w
  on conflict (rule_id, group_key) do update
  set seen_at = greatest(a.seen_at, excluded.seen_at),
    holds_since = least(a.holds_since, excluded.holds_since);
  -- What does not hold begins anew; what was not seen for long is forgotten.
  update logloom_private.alert_states a
  set holds_since = null
  where a.rule_id = p_rule.rule_id
    and a.holds_since is not null
    and not exists (
      select from unnest(v_holding) h where coalesce(md5(h."group"::text), '') = a.group_key
    );
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id
    and a.holds_since is null
    and (
      a.seen_at < p_window_end - make_interval(
        mins => p_rule.window_minutes * v_settings.alert_absent_windows
      )
    ) is not false;
  delete from logloom_private.alert_states a
  where a.rule_id = p_rule.rule_id and a.group_key = any (array(
    select o.group_key
    from logloom_private.alert_states o
    where o.rule_id = p_rule.rule_id
    order by o.seen_at desc nulls last, o.group_key
    offset v_settings.alert_groups * v_settings.alert_absent_windows
  ));
  return array(
    select h
    from unnest(v_holding) h
    join logloom_private.alert_states a
      on a.rule_id = p_rule.rule_id and a.group_key = coalesce(md5(h."group"::text), '')
    where a.holds_since <= p_window_end - make_interval(mins => p_rule.for_minutes)
    order by h."group"
  );
end;
$$;

-- alerts/list_alert_history.sql
-- Alerts that a reader finds, within a view those of rules that were evaluated in it as it is now;
-- without what tells of addresses for who only reads.
create function logloom_private.read_alert_history(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_rule_id uuid,
  p_ts_from text,
  p_ts_to text,
  p_acknowledged boolean,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_history_entry
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_history', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_shows_since constant timestamptz := (
    select v.shows_since from logloom.log_views v where v.view_id = v_scope.view_id
  );
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert', 'alert_id',
    (
      select h.triggered_at from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id and h.alert_id = p_after
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
    )
  );
begin
  if v_from >= v_to then
    perform logloom_private.refuse('alerts.range_is_empty');
  end if;
  -- To plan anew would be a tenth of a call. The newest entries have one plan that always fits;
  -- what else is asked for is planned for its values.
  if num_nonnulls(p_rule_id, v_from, v_to, p_acknowledged, p_after) > 0 then
    perform set_config('plan_cache_mode', 'force_custom_plan', true);
  end if;
  return query
  select e.*
  from (
    select h.alert, sum(octet_length((h.alert)."group"::text)) over (
      order by (h.alert).triggered_at desc, (h.alert).alert_id desc
      rows between unbounded preceding and 1 preceding
    ) as bytes_before
    from (
      select h as alert
      from logloom.alert_history h
      where h.tenant_id = v_scope.tenant_id
        and (
          v_scope.view_id is null
          or h.view_id = v_scope.view_id and h.triggered_at >= v_shows_since
        )
        and (p_rule_id is null or h.rule_id = p_rule_id)
        and (v_from is null or h.triggered_at >= v_from)
        and (v_to is null or h.triggered_at < v_to)
        and (p_acknowledged is null or (h.acknowledged_at is not null) = p_acknowledged)
        and (p_after is null or (h.triggered_at, h.alert_id) < (v_after, p_after))
      order by h.triggered_at desc, h.alert_id desc
      limit v_limit
    ) h
  ) h
  left join logloom.alert_incidents i on i.incident_id = (h.alert).incident_id
  cross join lateral logloom_private.alert_entry_of(h.alert, i.resolved_at, v_sees_addresses) e
  -- Of a group there may be a whole message.
  where coalesce(h.bytes_before, 0) < logloom_private.list_bytes()
  order by (h.alert).triggered_at desc, (h.alert).alert_id desc;
end;
$$;

create function public.list_alert_history(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_acknowledged boolean default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_history_entry
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select h.*
  from logloom_private.read_alert_history(
    null, p_tenant_id, p_rule_id, p_ts_from, p_ts_to, p_acknowledged, p_limit, p_after
  ) h;
end;
$$;

comment on function public.list_alert_history(
  text, uuid, text, text, boolean, integer, uuid
) is
  'Alerts of the tenant, newest first: of one rule, triggered from p_ts_from to before p_ts_to, '
  'acknowledged or not, where given. p_limit 1 to 1000 (default 100), p_after: alert_id of the '
  'last item of the page before. With long groups a page may have fewer; the one after the last '
  'has none. Errors: PT400, PT401, PT403.';

-- alerts/list_alert_incidents.sql
create function public.list_alert_incidents(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_state text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_incident
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_list_bytes constant integer := logloom_private.list_bytes();
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'incident', 'incident_id',
    (
      select i.opened_at from logloom.alert_incidents i
      where i.tenant_id = v_tenant_id and i.incident_id = p_after
    )
  );
begin
  if p_state not in ('open', 'acknowledged', 'resolved') then
    perform logloom_private.refuse('alerts.incident_state_is_unknown');
  end if;
  return query
  select (p.item).*
  from (
    select
      logloom_private.alert_incident_of(i) as item,
      -- A group may be a whole message.
      sum(octet_length(i."group"::text) + octet_length(i.query_dsl)) over (
        order by i.opened_at desc, i.incident_id desc
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select l.*
      from logloom.alert_incidents l
      where l.tenant_id = v_tenant_id
        and (p_rule_id is null or l.rule_id = p_rule_id)
        and (p_state is null or (l.resolved_at is not null) = (p_state = 'resolved'))
        and (
          p_state is null or p_state = 'resolved'
          or (l.acknowledged_at is not null) = (p_state = 'acknowledged')
        )
        and (p_after is null or (l.opened_at, l.incident_id) < (v_after, p_after))
      order by l.opened_at desc, l.incident_id desc
      limit v_limit
    ) i
    order by i.opened_at desc, i.incident_id desc
  ) p
  where coalesce(p.bytes_before, 0) < v_list_bytes;
end;
$$;

comment on function public.list_alert_incidents(text, uuid, text, integer, uuid) is
  'Incidents of the tenant, newest first: of one rule, and open, acknowledged or resolved, where '
  'given. p_limit 1 to 1000 (default 100), p_after: incident_id of the last item of the page '
  'before. With long groups a page may have fewer; the one after the last has none. '
  'Errors: PT400, PT401, PT403.';

-- alerts/list_alert_rules.sql
-- Alert rules that a reader finds, within a view those that are evaluated in it; without addresses
-- for who only reads.
create function logloom_private.read_alert_rules(
  p_scope logloom_private.reading_scope,
  p_tenant_id text,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_alert_rule
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no table is open to who only reads
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_alert_rules', p_tenant_id);
  v_sees_addresses constant boolean :=
    logloom_private.sees_addresses(p_scope is not null, v_scope);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'alert rule', 'rule_id',
    (
      select r.created_at from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id and r.rule_id = p_after
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- So many fit, however long their texts are.
      case when v_limit > 300 then sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) end as bytes_before
    from (
      select logloom_private.alert_rule_for(r, v_sees_addresses, v_scope.view_id) as item
      from logloom.alert_rules r
      where r.tenant_id = v_scope.tenant_id
        and (v_scope.view_id is null or r.view_id = v_scope.view_id)
        and (p_after is null or (r.created_at, r.rule_id) < (v_after, p_after))
      order by r.created_at desc, r.rule_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

-- A rule as a reader sees it.
create function logloom_private.alert_rule_for(
  p_row logloom.alert_rules,
  p_sees_addresses boolean,
  p_view_id uuid
)
returns public.logloom_alert_rule
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not p_sees_addresses then
    p_row.notification_destinations := '{}';
    p_row.notification_config := '{}';
    p_row.notification_secrets := '{}';
  end if;
  -- What it found before it was bound to the view as it is now is none of the view.
  if p_view_id is not null and (
    p_row.last_evaluated_at > greatest(
      p_row.asked_at,
      (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    )
  ) is not true
  then
    p_row.last_evaluated_at := null;
    p_row.last_value := null;
    p_row.last_error := null;
  end if;
  return logloom_private.alert_rule_of(p_row);
end;
$$;

create function public.list_alert_rules(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_rule
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select r.* from logloom_private.read_alert_rules(null, p_tenant_id, p_limit, p_after) r;
end;
$$;

comment on function public.list_alert_rules(text, integer, uuid) is
  'Alert rules of the tenant, newest first. p_limit 1 to 1000 (default 100), p_after: rule_id of '
  'the last item of the page before. Who only reads sees no addresses. '
  'Errors: PT400, PT401, PT403.';

-- alerts/list_alert_silences.sql
create function public.list_alert_silences(
  p_tenant_id text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_alert_silence
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_list_bytes constant integer := logloom_private.list_bytes();
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'silence', 'silence_id',
    (
      select s.created_at from logloom.alert_silences s
      where s.tenant_id = v_tenant_id and s.silence_id = p_after
    )
  );
begin
  return query
  select (p.item).*
  from (
    select
      logloom_private.alert_silence_of(s) as item,
      sum(octet_length(s."group"::text) + octet_length(coalesce(s.comment, ''))) over (
        order by s.created_at desc, s.silence_id desc
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select l.*
      from logloom.alert_silences l
      where l.tenant_id = v_tenant_id
        and (p_after is null or (l.created_at, l.silence_id) < (v_after, p_after))
      order by l.created_at desc, l.silence_id desc
      limit v_limit
    ) s
    order by s.created_at desc, s.silence_id desc
  ) p
  where coalesce(p.bytes_before, 0) < v_list_bytes;
end;
$$;

comment on function public.list_alert_silences(text, integer, uuid) is
  'Silences of the tenant, newest first; those that are over, too, for 30 days. p_limit 1 to 1000 '
  '(default 100), p_after: silence_id of the last item of the page before. '
  'Errors: PT400, PT401, PT403.';

-- alerts/milliseconds_since.sql
create function logloom_private.milliseconds_since(p_at timestamptz)
returns double precision
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  return extract(epoch from clock_timestamp() - p_at) * 1000;
end;
$$;

-- alerts/next_alert_rules.sql
-- Enabled rules after p_after that the round did not evaluate yet, in the order of their ids.
create function logloom_private.next_alert_rules(
  p_after uuid,
  p_limit integer,
  p_round logloom_private.alert_rounds
)
returns uuid[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(
    select r.rule_id
    from logloom.alert_rules r
    where r.enabled
      and r.asked_at < p_round.window_end
      and r.last_evaluated_at is distinct from p_round.window_end
      and (p_after is null or r.rule_id > p_after)
    order by r.rule_id
    limit p_limit
  );
end;
$$;

-- alerts/partial_value.sql
-- A window's value from the sums over its minutes, as the compiler's aggregates have it.
create function logloom_private.partial_value(
  p_aggregate text,
  p_window_minutes integer,
  p_events numeric,
  p_numbers numeric,
  p_total numeric,
  p_least numeric,
  p_greatest numeric
)
returns double precision
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case p_aggregate
    when 'count' then coalesce(p_events, 0)
    when 'rate' then coalesce(p_events, 0)::double precision / p_window_minutes
    when 'sum' then logloom_private.finite_double(coalesce(p_total, 0))
    when 'avg' then logloom_private.finite_double(p_total / nullif(p_numbers, 0))
    when 'min' then logloom_private.finite_double(p_least)
    when 'max' then logloom_private.finite_double(p_greatest)
  end;
end;
$$;

-- alerts/pending_alert_groups.sql
-- Groups that are not complete for the round, or whose rules read windows that they did not read
-- yet, and that do not rest. cost: milliseconds of a record, and those that it took already.
create function logloom_private.pending_alert_groups(p_round logloom_private.alert_rounds)
returns table (
  tenant_id text, group_id bigint, has_partials boolean, needed_from timestamptz,
  cost double precision
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select g.tenant_id, g.group_id, g.filter is not null, n.needed_from,
    coalesce(g.ms_per_record, 0) + g.spent_ms
  from logloom_private.alert_groups g
  join logloom_private.alert_needs(p_round) n on n.group_id = g.group_id
  where coalesce(g.retry_at <= p_round.window_end, true)
    and case
      when g.filter is null then n.is_due
      else g.write_seq is null
        or g.write_seq < p_round.write_seq_to
        or g.filled_from > n.needed_from
        or (g.filled_from = n.needed_from and g.filled_id is not null)
    end;
end;
$$;

-- alerts/plan_alert_rules.sql
-- Compiles the queries of up to p_limit enabled rules that are new or ask something else now, and
-- puts each rule into its group. Which ones. One that does not compile is not tried again until it
-- changes.
create function logloom_private.plan_alert_rules(p_now timestamptz, p_limit integer)
returns uuid[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
  v_query logloom_private.compiled_query;
  v_group logloom_private.alert_groups;
  v_updated_at timestamptz;
  v_planned uuid[] := '{}';
begin
  for v_rule in
    select r.*
    from logloom.alert_rules r
    where r.enabled
      and not exists (
        select from logloom_private.planned_alert_rules p where p.rule_id = r.rule_id
      )
    -- In turn, so that a tenant's many rules keep nobody waiting.
    order by row_number() over (partition by r.tenant_id order by r.rule_id), r.rule_id
    limit p_limit
  loop
    delete from logloom_private.alert_plans p where p.rule_id = v_rule.rule_id;
    -- Before the view is read: a change meanwhile is planned anew.
    v_updated_at := (
      select v.updated_at from logloom.log_views v where v.view_id = v_rule.view_id
    );
    begin
      v_group := null;
      v_query := logloom_private.compile_rule(
        v_rule.tenant_id, v_rule.query_dsl, v_rule.view_id, p_now
      );
      if logloom_private.has_partials(v_query) then
        v_group.filter := v_query.filter;
        v_group.number_sql := logloom_private.alert_number_sql(v_query);
      end if;
      v_group.digest := sha256(convert_to(
        case
          when v_group.filter is null
            then jsonb_build_array('window', v_rule.query_dsl, v_rule.window_minutes)
              || coalesce(to_jsonb(v_rule.view_id), '[]')
          else jsonb_build_array(v_group.filter, v_group.number_sql)
        end::text,
        'UTF8'
      ));
      insert into logloom_private.alert_groups (tenant_id, digest, filter, number_sql)
      values (v_rule.tenant_id, v_group.digest, v_group.filter, v_group.number_sql)
      on conflict (tenant_id, digest) do nothing;
      insert into logloom_private.alert_plans (
        rule_id, query_dsl, window_minutes, aggregate, group_id, view_id, view_updated_at
      )
      select
        v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes,
        coalesce(v_query.aggregate, 'count'), g.group_id, v_rule.view_id, v_updated_at
      from logloom_private.alert_groups g
      where g.tenant_id = v_rule.tenant_id and g.digest = v_group.digest;
    exception when others then
      insert into logloom_private.alert_plans (
        rule_id, query_dsl, window_minutes, refusal, view_id, view_updated_at
      )
      values (
        v_rule.rule_id, v_rule.query_dsl, v_rule.window_minutes, sqlerrm, v_rule.view_id,
        v_updated_at
      );
    end;
    v_planned := v_planned || v_rule.rule_id;
  end loop;
  if cardinality(v_planned) < p_limit then
    delete from logloom_private.alert_groups g
    where not exists (select from logloom_private.alert_plans p where p.group_id = g.group_id);
  end if;
  return v_planned;
end;
$$;

-- alerts/preview_alert_rule.sql
-- Values of a query with partial values over the windows that end at each minute of a span.
-- p_source: as that of window_values.
create function logloom_private.preview_partial_values(
  p_query logloom_private.compiled_query,
  p_source text,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_window_minutes integer
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_values logloom_private.alert_window[];
begin
  execute 'select array(select row(null, e.at - $4, e.at, logloom_private.partial_value($5, $6, '
    || 'sum(p.events) over w, sum(p.numbers) over w, sum(p.total) over w, min(p.least) over w, '
    || 'max(p.greatest) over w), null, null, null)::logloom_private.alert_window '
    || 'from generate_series($2 + interval ''1 minute'', $3, ''1 minute'') e (at) left join ('
    || logloom_private.alert_partials_sql(
      'select 1 as group_id, s.* from (' || p_source || ') s', p_query.filter,
      logloom_private.alert_number_sql(p_query)
    )
    || ') p on p.minute = e.at - interval ''1 minute'' '
    || 'window w as (order by e.at rows between $6 - 1 preceding and current row) '
    || 'order by e.at offset $6 - 1)'
  into v_values
  using p_tenant_id, p_from - v_window, p_to, v_window,
    coalesce(p_query.aggregate, 'count'), p_window_minutes;
  return v_values;
end;
$$;

-- What a rule that is not saved would have found in the time that preview_span names. Windows with
-- partial values end at every minute; the others stand side by side, so that either share one
-- reading of the records.
create function logloom_private.preview_windows(p_tenant_id text, p_rule logloom.alert_rules)
returns public.logloom_alert_preview
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because the compiler's SQL is not run under row-level security, which no index survives
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_settings logloom_private.settings;
  v_query logloom_private.compiled_query;
  v_source text;
  v_is_grouped boolean;
  v_values logloom_private.alert_window[];
  v_result public.logloom_alert_preview;
begin
  select s.* into v_settings from logloom_private.settings s;
  perform logloom_private.take_search_slot(v_tenant_id);
  perform logloom_private.check_query(p_rule.query_dsl, true);
  v_query := logloom_private.compile_rule(
    v_tenant_id, p_rule.query_dsl, p_rule.view_id
  );
  v_query.filter := logloom_private.filter_by_scan_slot(v_query.tree, v_query.filter);
  if v_query.names_now then
    perform logloom_private.refuse('alerts.preview_names_now');
  end if;
  v_source := 'select s.* from logloom.logs s '
    || 'where s.tenant_id = $1 and s.ts >= $2 and s.ts < $3 union all '
    || 'select s.* from logloom_private.sealed_rows('
    || format(
      '%s, $2, $3, %L, null) s', logloom_private.scanned_tenant_sql('$1'), v_query.tree
    );
  v_is_grouped := cardinality(v_query.by_fields) > 0;
  v_result.ts_to := date_trunc('minute', least(
    now(), logloom_private.watermark((logloom_private.queue_state()).oldest_received_at)
  ));
  v_result.ts_from := v_result.ts_to - v_settings.preview_span;
  if logloom_private.has_partials(v_query) then
    v_result.step_minutes := 1;
    v_values := logloom_private.preview_partial_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes
    );
  else
    v_result.step_minutes := p_rule.window_minutes;
    v_values := logloom_private.window_values(
      v_query, v_source, v_tenant_id, v_result.ts_from, v_result.ts_to, p_rule.window_minutes,
      case when v_is_grouped then v_settings.search_groups + 1 end
    );
    if v_is_grouped and cardinality(v_values) > v_settings.search_groups then
      perform logloom_private.refuse_stage_bound(
        'by', v_settings.search_groups, 'groups of all windows'
      );
    end if;
  end if;
  return logloom_private.completed_preview(v_result, v_values, v_is_grouped, p_rule);
end;
$$;

create function public.preview_alert_rule(
  p_tenant_id text default null,
  p_rule_id uuid default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_view_id uuid default null,
  p_for_minutes integer default null
)
returns public.logloom_alert_preview
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_rule logloom.alert_rules;
begin
  if p_rule_id is not null then
    select r.* into v_rule
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id;
    if not found then
      perform logloom_private.refuse('alerts.rule_not_found');
    end if;
  end if;
  v_rule.view_id := coalesce(p_view_id, v_rule.view_id);
  v_rule.query_dsl := coalesce(p_query_dsl, v_rule.query_dsl);
  v_rule.threshold := coalesce(p_threshold, v_rule.threshold);
  v_rule.comparison := coalesce(p_comparison, v_rule.comparison);
  v_rule.window_minutes := coalesce(p_window_minutes, v_rule.window_minutes);
  v_rule.cooldown_minutes := coalesce(p_cooldown_minutes, v_rule.cooldown_minutes, 0);
  v_rule.for_minutes := coalesce(p_for_minutes, v_rule.for_minutes, 0);
  perform logloom_private.require_parameter('p_query_dsl', v_rule.query_dsl is null);
  perform logloom_private.require_parameter('p_threshold', v_rule.threshold is null);
  perform logloom_private.require_parameter('p_comparison', v_rule.comparison is null);
  perform logloom_private.require_parameter('p_window_minutes', v_rule.window_minutes is null);
  if not (v_rule.threshold > '-Infinity' and v_rule.threshold < 'Infinity') then
    perform logloom_private.refuse('alerts.alert_rules_threshold_is_finite');
  elsif v_rule.comparison not in ('gt', 'gte', 'lt', 'lte', 'eq', 'neq') then
    perform logloom_private.refuse('alerts.alert_rules_comparison_is_known');
  elsif v_rule.window_minutes not between 1 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_window_is_valid');
  elsif v_rule.cooldown_minutes not between 0 and 10080 then
    perform logloom_private.refuse('alerts.alert_rules_cooldown_is_valid');
  elsif v_rule.for_minutes not between 0 and 1440 then
    perform logloom_private.refuse('alerts.alert_rules_for_minutes_are_valid');
  end if;
  return logloom_private.preview_windows(p_tenant_id, v_rule);
exception
when query_canceled then
  perform logloom_private.refuse('alerts.preview_took_too_long');
  return null;
when connection_exception or admin_shutdown or internal_error then
  if not logloom_private.reads_again(sqlstate, sqlerrm) then
    raise;
  end if;
  return public.preview_alert_rule(
    p_tenant_id, p_rule_id, p_query_dsl, p_threshold, p_comparison, p_window_minutes,
    p_cooldown_minutes, p_view_id, p_for_minutes
  );
end;
$$;

comment on function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer, uuid, integer
) is
  'When a rule would have fired over the last 24 h, and the values that it would have seen: the '
  'rule p_rule_id, with what else is given in place of its own. Percentiles, distinct counts and '
  'queries with by are looked at in windows side by side; of the latter each group fires apart. '
  'Errors: PT400, PT401, PT403, PT404, PT408.';

-- alerts/read_alert_group.sql
-- Adds to a group what it lacks: records that were staged for the round, then older ones back to
-- p_needed_from. It keeps its place at the deadline, and rests where it goes beyond its budget.
create function logloom_private.read_alert_group(
  p_group_id bigint,
  p_needed_from timestamptz,
  p_round logloom_private.alert_rounds,
  p_now timestamptz,
  p_deadline timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began timestamptz := clock_timestamp();
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_reading logloom_private.alert_reading;
  v_use text;
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  v_use := logloom_private.add_alert_partials_sql(
    'select ' || p_group_id || ' as group_id, f.* from found f', v_group
  );
  if v_group.write_seq < p_round.write_seq_to then
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_group.filled_from, 'infinity', null,
      case
        when v_group.filled_id is null then 'true'
        else format(
          '(l.ts, l.id) >= (%L::timestamptz, %L::uuid)', v_group.filled_from, v_group.filled_id
        )
      end,
      v_use, v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records,
      v_group.write_seq
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return;
    end if;
    update logloom_private.alert_groups g
    set
      write_seq = p_round.write_seq_to,
      ms_per_record = logloom_private.milliseconds_since(v_began)
        / greatest(v_reading.records, 1),
      failures = 0
    where g.group_id = p_group_id
    returning g.* into v_group;
    v_began := clock_timestamp();
  end if;

  if v_group.filled_from < p_needed_from
    or (v_group.filled_from = p_needed_from and v_group.filled_id is null)
  then
    return;
  elsif v_group.write_seq is null then
    delete from logloom_private.alert_partials p where p.group_id = p_group_id;
    v_group.write_seq := p_round.write_seq_to;
    -- Beyond everything that ingest takes.
    v_group.filled_from := p_round.window_end + v_settings.ingest_future_limit + interval '1 day';
  end if;
  v_reading := logloom_private.read_alert_pieces(
    v_group.tenant_id, p_needed_from, v_group.filled_from, v_group.filled_id,
    'l.write_seq <= ' || v_group.write_seq, v_use, p_deadline,
    v_settings.alert_rule_records - v_group.records_read
  );
  v_group.records_read := v_group.records_read + v_reading.records;
  v_group.spent_ms := v_group.spent_ms + logloom_private.milliseconds_since(v_began);
  if not v_reading.is_complete and (
    v_group.spent_ms > extract(epoch from v_settings.alert_fill_budget) * 1000
    or v_group.records_read > v_settings.alert_rule_records
  ) then
    perform logloom_private.rest_alert_group(
      v_group, p_now, v_group.records_read, v_group.spent_ms
    );
    return;
  end if;
  if v_reading.is_complete then
    v_reading.first_ts := p_needed_from;
    v_reading.first_id := null;
    v_group.records_read := 0;
    v_group.spent_ms := 0;
    v_group.failures := 0;
  end if;
  update logloom_private.alert_groups g
  set
    write_seq = v_group.write_seq,
    filled_from = v_reading.first_ts,
    filled_id = v_reading.first_id,
    records_read = v_group.records_read,
    spent_ms = v_group.spent_ms,
    ms_per_record = case
      when v_reading.records >= 100
        then logloom_private.milliseconds_since(v_began) / v_reading.records
      else g.ms_per_record
    end,
    retry_at = null,
    last_error = null,
    failures = v_group.failures
  where g.group_id = p_group_id;
end;
$$;

-- alerts/read_alert_pieces.sql
-- SQL that yields a tenant's newest records from p_from on, sealed ones too, of those before
-- (p_ts, p_id); with p_staged_after those that are staged for the round and arrived after it.
create function logloom_private.alert_piece_sql(
  p_tenant_id text,
  p_from timestamptz,
  p_ts timestamptz,
  p_id uuid,
  p_limit integer,
  p_staged_after bigint
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_to constant timestamptz := p_ts + interval '1 microsecond';
  v_before constant text := format('(l.ts, l.id) < (%L::timestamptz, %L::uuid)', p_ts, p_id);
  v_order constant text := ' order by l.ts desc, l.id desc limit ' || p_limit;
  v_rows text;
begin
  if p_staged_after is not null then
    return 'select l.* from pg_temp.alert_writes l where ' || format(
      'l.tenant_id = %L and l.ts >= %L::timestamptz and l.write_seq > %s and ',
      p_tenant_id, p_from, p_staged_after
    ) || v_before || v_order;
  end if;
  v_rows := 'select l.* ' || logloom_private.tenant_rows_sql(
    p_tenant_id, p_from, v_to, v_before
  ) || v_order;
  -- Or may have by the time that this runs.
  if not logloom_private.reads_sealed(p_tenant_id, p_from, v_to)
    and p_from >= clock_timestamp() - (select s.seal_after from logloom_private.settings s)
  then
    return v_rows;
  end if;
  return 'select l.* from ((' || v_rows
    || ') union all select l.* from logloom_private.sealed_page('
    || format(
      '%L, %L, %L, %L, %L, %L, %L, %L',
      p_tenant_id, p_from, v_to, '{"type": "all"}', p_limit, 'desc', p_ts, p_id
    )
    || ') l) l' || v_order;
end;
$$;

-- Reads records of alert_piece_sql in pieces that take some 20 to 80 ms, and does p_use with what
-- p_filter, over the alias l, leaves of each: SQL over "found". Complete unless the deadline passed
-- or it read more than p_max_records before the end.
create function logloom_private.read_alert_pieces(
  p_tenant_id text,
  p_from timestamptz,
  p_before_ts timestamptz,
  p_before_id uuid,
  p_filter text,
  p_use text,
  p_deadline timestamptz,
  p_max_records bigint,
  p_staged_after bigint default null
)
returns logloom_private.alert_reading
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_piece_began timestamptz;
  v_ms double precision;
  v_size integer := 16;
  v_records bigint := 0;
  v_reading logloom_private.alert_reading;
begin
  v_reading.first_ts := p_before_ts;
  v_reading.first_id := coalesce(p_before_id, '00000000-0000-0000-0000-000000000000');
  loop
    v_piece_began := clock_timestamp();
    execute 'with piece as materialized (' || logloom_private.alert_piece_sql(
      p_tenant_id, p_from, v_reading.first_ts, v_reading.first_id, v_size, p_staged_after
    )
      || '), found as (select l.* from piece l where (' || p_filter || ')), used as (' || p_use
      || ') select c.records, o.ts, o.id, c.records < ' || v_size
      || ' from (select count(*) as records from piece) c '
      || 'left join (select ts, id from piece order by ts, id limit 1) o on true'
    into v_reading;
    v_records := v_records + v_reading.records;
    exit when v_reading.is_complete
      or clock_timestamp() > p_deadline
      or v_records > p_max_records;
    v_ms := logloom_private.milliseconds_since(v_piece_began);
    v_size := case
      when v_ms < 20 then least(v_size * 4, 4096)
      when v_ms > 80 then greatest(v_size / 4, 1)
      else v_size
    end;
  end loop;
  v_reading.records := v_records;
  return v_reading;
end;
$$;

-- alerts/require_rule_in_view.sql
-- PT400 where a rule of this query cannot be evaluated in the view, PT404 where there is none.
-- Nothing for null.
create function logloom_private.require_rule_in_view(
  p_tenant_id text,
  p_query_dsl text,
  p_view_id uuid
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role calls the compiler's parts
begin
  if p_view_id is not null then
    perform logloom_private.hold_view(p_tenant_id, p_view_id);
    perform logloom_private.compile_rule(
      logloom_private.resolve_tenant_to_change(p_tenant_id), p_query_dsl, p_view_id
    );
  end if;
end;
$$;

-- alerts/resolve_incidents.sql
-- Ends the incidents of a rule whose condition held no longer in a window, but in those of its
-- groups that p_held names.
create function logloom_private.resolve_incidents(
  p_rule_id uuid,
  p_window_end timestamptz,
  p_held jsonb[],
  p_now timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, resolution = 'recovered', quiet_from = p_window_end
  where i.rule_id = p_rule_id
    and i.resolved_at is null
    and i.held_until < p_window_end
    and coalesce(i."group", 'null') <> all (p_held);
end;
$$;

-- alerts/rest_alert_group.sql
-- Has a group that went beyond its budget rest, longer each time.
create function logloom_private.rest_alert_group(
  p_group logloom_private.alert_groups,
  p_now timestamptz,
  p_records bigint,
  p_milliseconds double precision
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform logloom_private.empty_alert_groups(
    array[p_group.group_id],
    format(
      'The rule costs too much: %s records took %s ms. Narrow its query or shorten its window; '
        'it rests for a while.',
      p_records, round(p_milliseconds::numeric)
    ),
    p_now + least(s.alert_back_off * 2 ^ least(p_group.failures, 20), s.alert_back_off_max)
  )
  from logloom_private.settings s;
  update logloom_private.alert_groups g
  set failures = g.failures + 1, ms_per_record = p_milliseconds / greatest(p_records, 1)
  where g.group_id = p_group.group_id;
end;
$$;

-- alerts/scan_alert_group.sql
-- Evaluates the rules of a group that read their windows: the records of each window that match are
-- put aside piece by piece, then aggregated. Alerts fired; the group rests where that goes beyond
-- its budget.
create function logloom_private.scan_alert_group(
  p_group_id bigint,
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_matches constant text := 'pg_temp.alert_matches';
  v_began timestamptz;
  v_settings logloom_private.settings;
  v_group logloom_private.alert_groups;
  v_rule_ids uuid[];
  v_query_dsl text;
  v_window_minutes integer;
  v_view_id uuid;
  v_query logloom_private.compiled_query;
  v_due logloom_private.alert_window[];
  v_start timestamptz;
  v_end timestamptz;
  v_reading logloom_private.alert_reading;
  v_found logloom_private.alert_window[];
  v_windows logloom_private.alert_window[] := '{}';
begin
  select s.* into v_settings from logloom_private.settings s;
  select g.* into v_group from logloom_private.alert_groups g where g.group_id = p_group_id;
  select array_agg(r.rule_id), min(r.query_dsl), min(r.window_minutes), min(r.view_id::text)
  into v_rule_ids, v_query_dsl, v_window_minutes, v_view_id
  from logloom_private.planned_alert_rules r
  where r.group_id = p_group_id;
  v_due := array(select d from logloom_private.due_alert_windows(v_rule_ids, p_round) d);
  for v_start, v_end in
    select distinct d.window_start, d.window_end from unnest(v_due) d order by 2 desc
  loop
    v_began := clock_timestamp();
    v_query := logloom_private.compile_rule(
      v_group.tenant_id, v_query_dsl, v_view_id, v_end
    );
    perform logloom_private.empty_staging_table(v_matches, false);
    v_reading := logloom_private.read_alert_pieces(
      v_group.tenant_id, v_start, v_end, null, v_query.filter,
      'insert into ' || v_matches || ' select f.* from found f',
      v_began + v_settings.alert_rule_budget, v_settings.alert_rule_records
    );
    if not v_reading.is_complete then
      perform logloom_private.rest_alert_group(
        v_group, p_now, v_reading.records, logloom_private.milliseconds_since(v_began)
      );
      return 0;
    end if;
    v_query.filter := 'true';
    v_found := logloom_private.window_values(
      v_query, 'select m.* from ' || v_matches || ' m', v_group.tenant_id, v_start, v_end,
      v_window_minutes, v_settings.alert_groups + 1
    );
    if cardinality(v_found) > v_settings.alert_groups then
      raise exception
        'The rule found more than % groups: narrow the filter, or group by another field',
        v_settings.alert_groups;
    elsif exists (
      select from unnest(v_found) f
      where octet_length(f."group"::text) > v_settings.alert_group_bytes
    ) then
      raise exception 'The rule found a group of more than % bytes: group by another field',
        v_settings.alert_group_bytes;
    end if;
    v_windows := v_windows || array(
      select row(d.rule_id, d.window_start, d.window_end, f.value, null, f."group", null)
        ::logloom_private.alert_window
      from unnest(v_due) d
      left join unnest(v_found) f on true
      where d.window_end = v_end
    );
  end loop;
  update logloom_private.alert_groups g
  set failures = 0, retry_at = null, last_error = null
  where g.group_id = p_group_id;
  return logloom_private.settle_alert_windows(v_windows, p_round, p_now);
end;
$$;

-- alerts/sees_addresses.sql
-- Whether who lists alerts may see where they are sent: addresses are secrets, which who only reads
-- has no use for.
create function logloom_private.sees_addresses(
  p_is_key boolean,
  p_scope logloom_private.reading_scope
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not p_is_key and p_scope.view_id is null
    and logloom_private.reads_only(logloom_private.claims()) is not true;
end;
$$;

-- alerts/settle_alert_windows.sql
-- Windows of rules that have something to fire or to resolve, in order, with what held in each. One
-- that could not be evaluated says so in error.
create function logloom_private.telling_windows(p_windows logloom_private.alert_window[])
returns table (
  rule_id uuid, window_end timestamptz, error text, seen logloom_private.alert_window[],
  holding logloom_private.alert_window[]
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    j.rule_id, j.window_end, min(j.error),
    coalesce(array_agg(j.found) filter (
      where num_nonnulls(j.value, j."group") > 0
    ), '{}'),
    coalesce(array_agg(j.found order by j."group") filter (where j.holds), '{}')
  from (
    select
      w.rule_id, w.window_end, w.error, w."group", w.value, h.holds, w as found,
      bool_or(h.holds or r.for_minutes > 0 or r.on_absent = 'fire') over (
        partition by w.rule_id
      ) as tells
    from unnest(p_windows) w
    join logloom.alert_rules r on r.rule_id = w.rule_id
    cross join lateral logloom_private.alert_condition_holds(
      w.value, r.comparison, r.threshold
    ) h (holds)
  ) j
  where j.tells
    or exists (
      select from logloom.alert_incidents i
      where i.rule_id = j.rule_id and i.resolved_at is null
    )
  group by j.rule_id, j.window_end
  order by j.window_end, j.rule_id;
end;
$$;

-- Fires what holds, ends the incidents of what holds no longer, and notes value or error with each
-- rule. Alerts fired.
create function logloom_private.settle_alert_windows(
  p_windows logloom_private.alert_window[],
  p_round logloom_private.alert_rounds,
  p_now timestamptz
)
returns integer
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_told record;
  v_rule logloom.alert_rules;
  v_window logloom_private.alert_window;
  v_has_fired boolean;
  v_fired integer := 0;
  v_errors jsonb := '{}';
begin
  for v_told in select t.* from logloom_private.telling_windows(p_windows) t loop
    -- Held, so that nobody who changes it meanwhile leaves an incident open.
    select r.* into v_rule
    from logloom.alert_rules r
    where r.rule_id = v_told.rule_id and r.enabled and r.asked_at < v_told.window_end
    for no key update;
    continue when not found;
    if v_told.error is null and (v_rule.for_minutes > 0 or v_rule.on_absent = 'fire') then
      v_told.holding := logloom_private.lasting_windows(
        v_rule, v_told.window_end, v_told.seen, v_told.holding
      );
    end if;
    foreach v_window in array v_told.holding loop
      begin
        v_has_fired := logloom_private.fire_alert(v_rule, v_window, p_now);
        v_fired := v_fired + v_has_fired::integer;
      exception when others then
        v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
      end;
    end loop;
    continue when v_told.error is not null;
    begin
      perform logloom_private.resolve_incidents(
        v_rule.rule_id, v_told.window_end,
        array(select coalesce(h."group", 'null') from unnest(v_told.holding) h), p_now
      );
    exception when others then
      v_errors := v_errors || jsonb_build_object(v_told.rule_id, sqlerrm);
    end;
  end loop;

  update logloom.alert_rules r
  set
    last_evaluated_at = p_round.window_end,
    last_value = w.value,
    last_error = coalesce(v_errors ->> w.rule_id::text, w.error)
  from (
    select
      u.rule_id,
      max(u.value) filter (where u.window_end = u.newest_end) as value,
      max(u.error) as error
    from (
      select p.*, max(p.window_end) over (partition by p.rule_id) as newest_end
      from unnest(p_windows) p
    ) u
    group by u.rule_id
  ) w
  where r.rule_id = w.rule_id;
  return v_fired;
end;
$$;

-- alerts/stage_alert_writes.sql
-- Copies the records that arrived since the last round, of tenants with rules, for this session.
create function logloom_private.stage_alert_writes(
  p_round logloom_private.alert_rounds,
  p_from timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  -- In a variable, because the checker takes a table that it does not find for an error.
  v_staged constant text := 'pg_temp.alert_writes';
begin
  -- Once for all tenants and groups. Temporary, because it is nobody's but this round's.
  perform logloom_private.empty_staging_table(v_staged);
  execute 'insert into ' || v_staged || ' select l.* from logloom.logs l '
    || 'where l.tenant_id in (select g.tenant_id from logloom_private.alert_groups g) '
    || format(
      'and l.write_seq > %s and l.write_seq <= %s and l.ts >= %L::timestamptz',
      p_round.write_seq_from, p_round.write_seq_to, p_from
    );
  execute 'analyze ' || v_staged;
  delete from logloom_private.alert_round_writes a where true;
  execute 'insert into logloom_private.alert_round_writes (tenant_id, first_ts, records) '
    || 'select s.tenant_id, min(s.ts), count(*) from ' || v_staged || ' s group by 1';
end;
$$;

-- alerts/update_alert_rule.sql
create function public.update_alert_rule(
  p_rule_id uuid default null,
  p_name text default null,
  p_description text default null,
  p_query_dsl text default null,
  p_threshold double precision default null,
  p_comparison text default null,
  p_window_minutes integer default null,
  p_cooldown_minutes integer default null,
  p_enabled boolean default null,
  p_notification_destinations text[] default null,
  p_notification_config jsonb default null,
  p_view_id uuid default null,
  p_notify_on_recovery boolean default null,
  p_for_minutes integer default null,
  p_on_absent text default null,
  p_group_wait_seconds integer default null,
  p_secrets jsonb default null
)
returns public.logloom_alert_rule
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change();
  v_constraint text;
  v_row logloom.alert_rules;
begin
  perform logloom_private.require_parameter('p_rule_id', p_rule_id is null);
  if p_query_dsl is not null then
    perform logloom_private.check_query(p_query_dsl, true);
  end if;
  perform logloom_private.require_view_by_admin(v_tenant_id, p_view_id);
  -- An empty description takes it away; notification_config is replaced as a whole.
  update logloom.alert_rules r
  set
    name = coalesce(logloom_private.trim_space(p_name), r.name),
    description = nullif(coalesce(logloom_private.trim_space(p_description), r.description), ''),
    query_dsl = coalesce(p_query_dsl, r.query_dsl),
    threshold = coalesce(p_threshold, r.threshold),
    comparison = coalesce(p_comparison, r.comparison),
    window_minutes = coalesce(p_window_minutes, r.window_minutes),
    cooldown_minutes = coalesce(p_cooldown_minutes, r.cooldown_minutes),
    enabled = coalesce(p_enabled, r.enabled),
    notification_destinations = case
      when p_notification_destinations is null then r.notification_destinations
      else logloom_private.distinct_destinations(p_notification_destinations)
    end,
    notification_config = coalesce(nullif(p_notification_config, 'null'), r.notification_config),
    view_id = coalesce(p_view_id, r.view_id),
    notify_on_recovery = coalesce(p_notify_on_recovery, r.notify_on_recovery),
    for_minutes = coalesce(p_for_minutes, r.for_minutes),
    on_absent = coalesce(p_on_absent, r.on_absent),
    group_wait_seconds = coalesce(p_group_wait_seconds, r.group_wait_seconds),
    notification_secrets = logloom_private.changed_rule_secrets(
      r.notification_secrets, p_secrets
    ),
    updated_at = now(),
    asked_at = case
      when (r.query_dsl, r.threshold, r.comparison, r.window_minutes, r.for_minutes) = (
          coalesce(p_query_dsl, r.query_dsl), coalesce(p_threshold, r.threshold),
          coalesce(p_comparison, r.comparison), coalesce(p_window_minutes, r.window_minutes),
          coalesce(p_for_minutes, r.for_minutes)
        )
        and r.view_id is not distinct from coalesce(p_view_id, r.view_id)
        and r.enabled >= coalesce(p_enabled, r.enabled)
        then r.asked_at
      else now()
    end
  where r.tenant_id = v_tenant_id and r.rule_id = p_rule_id
  returning r.* into v_row;
  if not found then
    perform logloom_private.refuse('alerts.rule_not_found');
  end if;
  perform logloom_private.require_groups(v_row.query_dsl, v_row.on_absent);
  perform logloom_private.require_rule_in_view(v_tenant_id, v_row.query_dsl, v_row.view_id);
  return logloom_private.alert_rule_of(v_row);
exception when check_violation then
  get stacked diagnostics v_constraint = constraint_name;
  perform logloom_private.refuse('alerts.' || v_constraint);
  return null;
end;
$$;

comment on function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb
) is
  'Changes what is given and returns the alert rule. An empty p_description takes it away, '
  'p_notification_config is replaced as a whole; of p_secrets each member replaces its own, null '
  'takes it away. p_view_id, for admins: the view that it is '
  'evaluated in. Errors: PT400, PT401, PT403, PT404.';

-- alerts/window_values.sql
-- Values of a query over windows side by side from p_from to p_to, of a query with by one for each
-- group that has records, so that each fires apart; p_limit of them at most. p_source: SQL with the
-- columns of logloom.logs, of which the query's filter chooses; $1 is the tenant, $2 and $3 are the
-- range.
create function logloom_private.window_values(
  p_query logloom_private.compiled_query,
  p_source text,
  p_tenant_id text,
  p_from timestamptz,
  p_to timestamptz,
  p_window_minutes integer,
  p_limit integer default null
)
returns logloom_private.alert_window[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
as $$
declare
  v_window constant interval := make_interval(mins => p_window_minutes);
  v_value text := coalesce(p_query.aggregate_sql, 'count(*)::double precision');
  v_join text := 'left join ';
  v_group text := 'null::jsonb';
  v_values logloom_private.alert_window[];
begin
  if p_query.aggregate = 'rate' then
    v_value := v_value || ' / ' || p_window_minutes;
  end if;
  if cardinality(p_query.by_sql) > 0 then
    v_join := 'join ';
    select 'jsonb_object($6, array[' || string_agg('to_jsonb(' || b || ') #>> ''{}''', ', ')
      || ']::text[])'
    into v_group
    from unnest(p_query.by_sql) b;
  elsif p_from + v_window = p_to then
    -- One window needs no sorting.
    execute 'select array[row(null, $2, $3, ' || v_value
      || ', null, null, null)::logloom_private.alert_window] from (' || p_source || ') l where ('
      || p_query.filter || ')'
    into v_values
    using p_tenant_id, p_from, p_to;
    return v_values;
  end if;
  execute 'select array_agg(row(null, v.starts, v.starts + $4, v.value, null, v."group", null)'
    || '::logloom_private.alert_window) from (select w.starts, ' || v_value || ' as value, '
    || v_group || ' as "group" from generate_series($2, $3 - $4, $4) w (starts) ' || v_join
    || '(select l.*, date_bin($4, l.ts, $2) as starts from (' || p_source || ') l where ('
    || p_query.filter || ')) l on l.starts = w.starts group by '
    || array_to_string(array['w.starts'] || p_query.by_sql, ', ') || ' limit $5) v'
  into v_values
  using p_tenant_id, p_from, p_to, v_window, p_limit, p_query.by_fields;
  return coalesce(v_values, '{}');
end;
$$;

select logloom_private.finish_migration();
