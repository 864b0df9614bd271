create function logloom_private.audit_actions()
returns text[]
language sql
immutable
return array[
  'alert_incident.changed', 'alert_rule.paused',
  'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
  'alert_silence.created', 'alert_silence.expired',
  'ingest_token.created',
  'portal_session.created', 'portal_session.first_used', 'portal_session.revoked',
  'member.added', 'member.changed', 'member.removed', 'member.switched',
  'settings.changed', 'plan.changed',
  'view.created', 'view.changed', 'view.deleted',
  'log_stream.created', 'log_stream.changed', 'log_stream.deleted',
  'dashboard.created', 'dashboard.changed', 'dashboard.deleted', 'error_group.changed',
  'logs.deletion_requested', 'logs.deletion_finished', 'logs.day_dropped',
  'logs.restore_requested', 'logs.restore_finished'
];

-- There are no foreign keys: the log is kept after its subjects and its tenant are deleted.
create table logloom.audit_events (
  event_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  subject text not null,
  details jsonb not null default '{}',
  client_id text default (logloom_private.claims() ->> 'client_id'),
  constraint audit_events_action_is_known check (
    action = any (logloom_private.audit_actions())
  )
);

create index audit_events_tenant_id_occurred_at_idx
on logloom.audit_events (tenant_id, occurred_at desc, event_id desc);

create index audit_events_occurred_at_idx on logloom.audit_events using brin (occurred_at);

create policy audit_events_select_tenant on logloom.audit_events
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.audit_events to authenticated, service_role;

comment on table logloom.audit_events is
  'Changes of keys, tokens, portal sessions, members, incidents, silences, views, log streams, '
  'dashboards, settings and plans, and deletions and restores of records. Nobody can change an '
  'event, or delete it within settings.audit_lifetime.';

comment on column logloom.audit_events.actor is
  'The claim sub of the request, or else its role, or else the database user.';

comment on column logloom.audit_events.client_id is
  'The OAuth client of the token, if it has one.';
