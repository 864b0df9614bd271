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
  -- Sealed. Only the function logloom-notify can open them.
  notification_secrets jsonb not null default '{}',
  baseline_days integer,
  kind text not null default 'query',
  held_at timestamptz,
  paused_at timestamptz,
  constraint alert_rules_name_is_valid check (
    name = logloom_private.trim_space(name) and length(name) between 1 and 200
  ),
  constraint alert_rules_description_is_valid check (length(description) between 1 and 2000),
  -- PostgreSQL treats NaN as greater than every number.
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
  -- One plain ASCII address and nothing else.
  constraint alert_rules_email_is_valid check (
    length(notification_config ->> 'email') <= 254
    and notification_config ->> 'email' ~ (
      '^[A-Za-z0-9.!#$%&''*+/=?^_`{|}~-]{1,64}@([A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?\.)+'
      '[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?$'
    )
  ),
  -- Plain HTTP only to this machine, for development. Printable ASCII, no userinfo. Whether the
  -- host is allowed is checked at each delivery.
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
  constraint alert_rules_baseline_is_valid check (
    baseline_days is null
    -- Not "between": PostgreSQL prints a "between" within an "and" in a form that it cannot parse.
    or baseline_days >= 3 and baseline_days <= 7 and threshold >= 0.01 and threshold <= 1000
      and comparison in ('gt', 'gte', 'lt', 'lte')
  ),
  constraint alert_rules_kind_is_known check (kind in ('query', 'new_error')),
  constraint alert_rules_new_error_has_no_condition check (
    kind <> 'new_error'
    or threshold = 0 and comparison = 'gt' and window_minutes = 1 and for_minutes = 0
      and on_absent = 'ignore' and baseline_days is null
  ),
  constraint alert_rules_view_is_of_tenant foreign key (tenant_id, view_id)
    references logloom.log_views (tenant_id, view_id) on delete cascade
)
-- Every rule is updated every minute.
with (fillfactor = 70);

create index alert_rules_tenant_id_created_at_idx
on logloom.alert_rules (tenant_id, created_at desc, rule_id desc);

create index alert_rules_tenant_id_view_id_idx on logloom.alert_rules (tenant_id, view_id);

create index alert_rules_baseline_idx on logloom.alert_rules (tenant_id)
where baseline_days is not null;

create policy alert_rules_select_tenant on logloom.alert_rules
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.alert_rules to authenticated, service_role;

comment on table logloom.alert_rules is
  'Alert rules: a query, its window, and a threshold for its value.';

comment on column logloom.alert_rules.created_by is
  'The claim sub of the user who created it. Every user of the tenant may change it.';

comment on column logloom.alert_rules.asked_at is
  'When the rule was created or enabled, or when its query, window or condition last changed. Only '
  'windows that end after this time are evaluated.';

comment on column logloom.alert_rules.notification_config is
  'Free-form JSON. email: address for the destination email. webhook_url: URL for the destination '
  'webhook. webhook_template and webhook_template_type (json or text): the body of a webhook.';

comment on column logloom.alert_rules.notification_secrets is
  'Sealed texts by name: slack_url, discord_url, teams_url, pagerduty_key.';

comment on column logloom.alert_rules.for_minutes is
  'How long the condition must hold before the rule fires.';

comment on column logloom.alert_rules.on_absent is
  'fire: a group of a rule with by also fires if it had records recently and has none now.';

comment on column logloom.alert_rules.group_wait_seconds is
  'How long notifications of several groups are collected into one.';

comment on column logloom.alert_rules.baseline_days is
  'The value is compared with the same windows of this many days, and the threshold counts '
  'deviations from what is usual. Null: the value is compared with the threshold.';

comment on column logloom.alert_rules.held_at is
  'When an admin disabled a customer''s rule. Only an admin can enable it again.';

comment on column logloom.alert_rules.paused_at is
  'When the maker (created_by) of a customer''s rule lost their role. Only an admin can enable it '
  'again.';

comment on column logloom.alert_rules.kind is
  'query: compares the value of the query. new_error: fires for each error group that is new or '
  'regressed, and whose records the query finds; its value is how many records the group has had '
  'since the last look.';

comment on column logloom.alert_rules.last_evaluated_at is 'End of the last evaluated window.';

comment on column logloom.alert_rules.last_value is 'Value of that window; null: no data.';

comment on column logloom.alert_rules.last_error is 'Why that window could not be evaluated.';

comment on column logloom.alert_rules.view_id is
  'The view that the rule is evaluated in. Null: all records of the tenant.';

create table logloom_private.rule_values (
  rule_id uuid not null references logloom.alert_rules on delete cascade,
  window_end timestamptz not null,
  values jsonb not null,
  others double precision,
  primary key (rule_id, window_end)
);

create index rule_values_window_end_idx on logloom_private.rule_values using brin (window_end);

comment on table logloom_private.rule_values is
  'The values of rules with a baseline, for one window every five minutes. values: the value by '
  'group, as group_key() writes it. others: the value of every other group; null: unknown.';
