-- No foreign key on rule_id: incidents stay when the rule is deleted.
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
  end_told_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  assigned_to text,
  assigned_at timestamptz,
  assigned_by text,
  note text,
  noted_at timestamptz,
  noted_by text,
  constraint alert_incidents_resolution_is_known check (
    resolution in ('recovered', 'still_absent', 'rule_changed', 'rule_disabled', 'rule_deleted')
  ),
  constraint alert_incidents_resolution_is_whole check (
    (resolved_at is null) = (resolution is null)
    and (quiet_from is null or resolution in ('recovered', 'still_absent'))
  ),
  constraint alert_incidents_acknowledgement_is_whole check (
    (acknowledged_at is null) = (acknowledged_by is null)
  ),
  constraint alert_incidents_assignment_is_whole check (
    num_nulls(assigned_to, assigned_at, assigned_by) in (0, 3)
  ),
  constraint alert_incidents_note_is_whole check (num_nulls(note, noted_at, noted_by) in (0, 3))
)
-- Open incidents are updated every minute.
with (fillfactor = 70);

-- A rule has at most one open incident for each group.
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

grant select on logloom.alert_incidents to authenticated, service_role;

comment on table logloom.alert_incidents is
  'The time in which the condition of a rule, or of one group of a rule with by, holds: from the '
  'first alert until a window in which it no longer holds.';

comment on column logloom.alert_incidents.rule_name is
  'This and the following columns are from the rule when the incident opened. query_dsl and '
  'comparison are null for rules that were deleted before incidents existed.';

comment on column logloom.alert_incidents.value is
  'The value of the last window in which the condition held.';

comment on column logloom.alert_incidents.peak_value is
  'The value farthest from the threshold, of the windows in which the condition held.';

comment on column logloom.alert_incidents.held_until is
  'The end of the last window in which the condition held.';

comment on column logloom.alert_incidents.quiet_from is
  'The end of the window in which the condition no longer held.';

comment on column logloom.alert_incidents.resolution is
  'recovered: the condition no longer holds. still_absent: a silent group is no longer watched, '
  'but is still silent. All other values say what happened to the rule.';

comment on column logloom.alert_incidents.end_told_at is
  'When messages announced the end; null again when the incident fires again. After the '
  'announcement the cooldown suppresses nothing.';

comment on column logloom.alert_incidents.acknowledged_by is
  'The claim sub of the user who acknowledged it first.';

comment on column logloom.alert_incidents.assigned_to is
  'The claim sub of the user who takes care of it.';
