-- Neither SQL nor immutable: PostgreSQL would compute such a function in each insert of an event.
create function logloom_private.audit_actions()
returns text[]
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return array[
    'alert_incident.changed',
    'alert_rule.created', 'alert_rule.changed', 'alert_rule.deleted', 'alert_rule.paused',
    'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
    'alert_silence.created', 'alert_silence.expired',
    'ingest_token.created',
    'portal_session.created', 'portal_session.first_used', 'portal_session.revoked',
    'portal_customer.revoked',
    'member.added', 'member.changed', 'member.removed', 'member.switched',
    'settings.changed', 'plan.changed',
    'view.created', 'view.changed', 'view.deleted',
    'log_stream.created', 'log_stream.changed', 'log_stream.deleted',
    'dashboard.created', 'dashboard.changed', 'dashboard.deleted', 'error_group.changed',
    'ingest_rule.created', 'ingest_rule.changed', 'ingest_rule.deleted',
    'logs.deletion_requested', 'logs.deletion_finished', 'logs.day_dropped',
    'logs.restore_requested', 'logs.restore_finished'
  ];
end;
$$;

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
  source text not null default 'logloom',
  targets jsonb not null default '[]',
  day date,
  position bigint,
  salt bytea,
  digest bytea,
  link bytea,
  erased_at timestamptz,
  -- All rules in one constraint: PostgreSQL compiles each constraint for each statement.
  constraint audit_events_action_is_known check (
    source = 'app' and length(action) <= 200
    or source = 'logloom' and action = any (logloom_private.audit_actions())
  )
);

create index audit_events_tenant_id_occurred_at_idx
on logloom.audit_events (tenant_id, occurred_at desc, event_id desc);

create index audit_events_occurred_at_idx on logloom.audit_events using brin (occurred_at);

create index audit_events_waiting_idx
on logloom.audit_events (tenant_id, occurred_at, event_id)
where source = 'app' and position is null;

create unique index audit_events_tenant_id_day_position_idx
on logloom.audit_events (tenant_id, day, position) where position is not null;

create policy audit_events_select_tenant on logloom.audit_events
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

-- All but salt.
grant select (
  event_id, tenant_id, occurred_at, actor, action, subject, details, client_id, source, targets,
  day, position, digest, link, erased_at
) on logloom.audit_events to authenticated, service_role;

comment on table logloom.audit_events is
  'Changes of keys, tokens, portal sessions, members, incidents, silences, views, log streams, '
  'dashboards, ingest rules, settings and plans. Also deletions and restores of records (source '
  'logloom). Nobody can change these events, or delete them within settings.audit_lifetime. The '
  'project''s own events (source app) come from logloom.audit_table(), logloom.audit() and '
  'record_audit_event.';

comment on column logloom.audit_events.actor is
  'The portal session (portal and its id), or else the claim sub of the request, or else its role, '
  'or else the database user.';

comment on column logloom.audit_events.client_id is
  'The OAuth client of the token, if it has one.';

comment on column logloom.audit_events.subject is
  'What the action changed. For the source app: the id of the first target, or empty.';

comment on column logloom.audit_events.position is
  'The place in the chain of its tenant and UTC day (column day), from 1. Null until the job '
  'link_audit_events links the event. Always null for the source logloom. The day is the day of '
  'linking. It is later than the day of occurred_at if the transaction took long.';

comment on column logloom.audit_events.digest is
  'SHA-256 of salt and content (audit_event_digest). link: SHA-256 of the link before and digest. '
  'erased_at: when erase_audit_subject deleted content and salt; digest and link stay.';
