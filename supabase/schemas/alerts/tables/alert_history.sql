-- No foreign key on rule_id: the history stays when the rule is deleted.
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

-- A window fires once for each group, however often it is evaluated.
create unique index alert_history_rule_id_window_end_idx
on logloom.alert_history (rule_id, window_end, (coalesce(md5("group"::text), '')));

create policy alert_history_select_tenant on logloom.alert_history
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.alert_history to authenticated, service_role;

comment on table logloom.alert_history is
  'Alerts: each time a rule fired, with its value, and who acknowledged it.';

comment on column logloom.alert_history.threshold is 'The rule''s threshold at the time.';

comment on column logloom.alert_history.acknowledged_by is
  'The claim sub of the user who acknowledged it first.';

comment on column logloom.alert_history.notification_channels is 'Channels that delivered it.';

comment on column logloom.alert_history.notification_error is
  'The error of the last delivery that was given up.';

comment on column logloom.alert_history."group" is
  'The group that fired, {field: text}; null if the rule has no by.';

comment on column logloom.alert_history.window_end is
  'The value is from records from window_start to before window_end.';

comment on column logloom.alert_history.view_id is 'The view that the rule was evaluated in.';

comment on column logloom.alert_history.silence_id is 'The silence that stopped its messages.';

comment on column logloom.alert_history.absent is
  'It fired because its group, which sent records before, sent none.';
