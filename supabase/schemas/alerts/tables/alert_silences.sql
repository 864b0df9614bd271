create table logloom.alert_silences (
  silence_id uuid primary key default gen_random_uuid(),
  tenant_id text not null references logloom.tenants on delete cascade,
  rule_id uuid,
  "group" jsonb,
  starts_at timestamptz not null,
  ends_at timestamptz,
  comment text,
  created_by text not null,
  created_at timestamptz not null default now(),
  expired_at timestamptz,
  expired_by text,
  recurrence jsonb,
  constraint alert_silences_end_or_recur check (ends_at is not null or recurrence is not null),
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
  'A time in which matching alerts are not sent: alerts of a rule, of groups with these members, '
  'or all alerts. Rules are still evaluated, and the history names the silence.';

comment on column logloom.alert_silences.recurrence is
  '{days, start, minutes, time_zone}: alerts are only silenced in its occurrences. Null: always '
  'from starts_at to ends_at.';
