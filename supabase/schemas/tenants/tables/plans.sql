create table logloom.plans (
  plan_id text primary key,
  plan_name text not null,
  is_default boolean not null default false,
  monthly_events_limit bigint not null,
  monthly_bytes_limit bigint not null,
  events_per_second integer,
  events_burst integer,
  requests_per_second integer,
  requests_burst integer,
  retention_days_default integer not null,
  retention_days_max integer not null,
  saved_searches boolean not null,
  max_saved_searches integer not null,
  alerts boolean not null,
  max_alerts integer not null,
  concurrent_searches integer not null,
  concurrent_scans integer not null default 1,
  max_open_deletions integer not null default 10,
  max_members integer not null default 1000,
  max_api_keys integer not null default 1000,
  emails_per_hour integer not null default 1000,
  webhooks_per_hour integer not null default 10000,
  max_notification_addresses integer not null default 1000,
  max_ingest_tokens integer not null default 10000,
  ingest_tokens_per_minute integer not null default 2000,
  max_portal_sessions integer not null default 10000,
  portal_requests_per_minute integer not null default 6000,
  max_views integer not null default 1000,
  max_log_streams integer not null default 100,
  max_alert_silences integer not null default 1000,
  archive_days integer not null default 0,
  max_restored_days integer not null default 31,
  max_log_dashboards integer not null default 1000,
  max_baseline_rules integer not null default 10,
  max_error_groups integer not null default 1000,
  audit_retention_days integer not null default 400,
  audit_events_per_day integer not null default 100000,
  max_ingest_rules integer not null default 20,
  max_span_share real not null default 0.5,
  constraint plans_limits_are_not_negative check (
    least(monthly_events_limit, monthly_bytes_limit, max_saved_searches, max_alerts) >= 0
  ),
  constraint plans_max_members_is_positive check (max_members >= 1),
  constraint plans_max_api_keys_is_positive check (max_api_keys >= 1),
  constraint plans_portal_is_limited check (
    least(max_portal_sessions, portal_requests_per_minute) >= 0
  ),
  constraint plans_max_alert_silences_is_not_negative check (max_alert_silences >= 0),
  constraint plans_max_views_is_not_negative check (max_views >= 0),
  constraint plans_max_log_streams_is_not_negative check (max_log_streams >= 0),
  constraint plans_archive_days_is_limited check (archive_days between 0 and 3650),
  constraint plans_max_restored_days_is_limited check (max_restored_days between 0 and 3650),
  constraint plans_max_log_dashboards_is_not_negative check (max_log_dashboards >= 0),
  constraint plans_max_baseline_rules_is_not_negative check (max_baseline_rules >= 0),
  constraint plans_audit_retention_days_is_limited check (
    audit_retention_days between 1 and 36500
  ),
  constraint plans_audit_events_per_day_is_not_negative check (audit_events_per_day >= 0),
  constraint plans_max_ingest_rules_is_limited check (max_ingest_rules between 0 and 100),
  constraint plans_max_span_share_is_limited check (max_span_share between 0 and 1),
  constraint plans_max_error_groups_is_not_negative check (max_error_groups >= 0),
  constraint plans_notifications_are_limited check (
    least(emails_per_hour, webhooks_per_hour, max_notification_addresses) >= 0
  ),
  constraint plans_max_open_deletions_is_positive check (max_open_deletions >= 1),
  constraint plans_concurrent_searches_is_positive check (concurrent_searches >= 1),
  constraint plans_concurrent_scans_is_positive check (concurrent_scans >= 1),
  constraint plans_rates_are_positive check (
    least(events_per_second, events_burst, requests_per_second, requests_burst) >= 1
  ),
  constraint plans_rates_have_bursts check (
    (events_per_second is null) = (events_burst is null)
    and (requests_per_second is null) = (requests_burst is null)
  ),
  constraint plans_retention_is_positive check (
    retention_days_default between 1 and retention_days_max
  )
);

create unique index plans_is_default_idx on logloom.plans (is_default) where is_default;

create policy plans_select_anyone on logloom.plans
for select to authenticated
using (true);

grant select on logloom.plans to authenticated, service_role;

insert into logloom.plans (
  plan_id, plan_name, is_default, monthly_events_limit, monthly_bytes_limit,
  retention_days_default, retention_days_max,
  saved_searches, max_saved_searches, alerts, max_alerts, concurrent_searches, concurrent_scans,
  max_members, max_api_keys, emails_per_hour, webhooks_per_hour, max_notification_addresses,
  max_ingest_tokens, ingest_tokens_per_minute, max_portal_sessions, portal_requests_per_minute,
  max_views, max_log_streams, max_alert_silences, max_log_dashboards,
  max_baseline_rules, max_error_groups
)
values
  (
    'free', 'Free', true, 1000000, 1000000000, 7, 7, true, 10, true, 3, 4, 1,
    10, 20, 20, 200, 10, 100, 20, 100, 120, 5, 1, 10, 5, 1, 200
  ),
  (
    'pro', 'Pro', false, 100000000, 100000000000, 30, 90, true, 50, true, 50, 6, 2,
    100, 200, 200, 2000, 100, 1000, 200, 1000, 1200, 100, 10, 100, 100, 20, 2000
  ),
  (
    'enterprise', 'Enterprise', false, 10000000000, 10000000000000, 90, 400,
    true, 1000, true, 1000, 8, 2, 1000, 1000, 1000, 10000, 1000,
    10000, 2000, 10000, 6000, 1000, 100, 1000, 1000, 200, 10000
  );

comment on table logloom.plans is
  'Plans and their limits. A change takes effect with the next request.';

comment on column logloom.plans.is_default is
  'The plan of new tenants.';

comment on column logloom.plans.max_open_deletions is
  'Deletions by delete_logs that may be queued or in progress at once.';

comment on column logloom.plans.monthly_bytes_limit is
  'Bytes of accepted request bodies in a UTC month.';

comment on column logloom.plans.events_per_second is
  'Events per second that a tenant may send on average. events_burst: how many at once. Null: no '
  'limit.';

comment on column logloom.plans.requests_per_second is
  'Requests per second on average. requests_burst: how many at once. Null: no limit.';

comment on column logloom.plans.concurrent_searches is
  'Searches, statistics, tails and previews of a tenant that may run at once. At most half of them '
  'may be in views and portals. Any further call gets PT429.';

comment on column logloom.plans.concurrent_scans is
  'Searches of a tenant that may run longer than search_free_time at the same time. One more may '
  'run in views and portals. All others wait for their turn. The first search may also use '
  'parallel workers: this number minus one.';

comment on column logloom.plans.retention_days_max is
  'Highest retention_days that a tenant may set.';

comment on column logloom.plans.max_api_keys is
  'API keys that a tenant may have, not counting revoked and expired keys.';

comment on column logloom.plans.emails_per_hour is
  'Emails for a tenant in a clock hour, including tests, codes and retries. Further emails wait '
  'for the next hour. Tests over this number in 60 minutes get PT429.';

comment on column logloom.plans.webhooks_per_hour is
  'Like emails_per_hour, for everything that is sent by HTTP: webhooks, chats and pagers.';

comment on column logloom.plans.max_notification_addresses is
  'Confirmed email addresses of a tenant.';

comment on column logloom.plans.max_ingest_tokens is
  'Ingest tokens of a tenant that may be valid at once; a further one gets PT429.';

comment on column logloom.plans.ingest_tokens_per_minute is
  'Ingest tokens that may be created for a tenant in a minute.';

comment on column logloom.plans.max_portal_sessions is 'Active portal sessions of a tenant.';

comment on column logloom.plans.portal_requests_per_minute is
  'Requests in a minute of all portal sessions of a tenant together.';

comment on column logloom.plans.max_baseline_rules is
  'Alert rules with a baseline. Each takes 1 MB for its values, with "by" up to 4 MB.';

comment on column logloom.plans.max_error_groups is
  'Error groups of a tenant. Errors beyond them are counted together. A group takes 2 to 30 kB.';

comment on column logloom.plans.audit_retention_days is
  'How many days the audit events of the project''s own tables and programs are kept.';

comment on column logloom.plans.audit_events_per_day is
  'When the tenant''s trail has this many events of a UTC day, record_audit_event is refused for '
  'the rest of the day. Triggers and logloom.audit() are not refused: their events belong to '
  'changes.';

comment on column logloom.plans.max_alert_silences is
  'Silences of a tenant at once, including scheduled ones.';

comment on column logloom.plans.archive_days is
  'How many days the archive keeps records, counted from their ts. 0: they are not archived.';

comment on column logloom.plans.max_restored_days is
  'Restored days that a tenant may have at once.';
