create table logloom.error_groups (
  tenant_id text not null references logloom.tenants on delete cascade,
  fingerprint text not null,
  service text,
  error_type text,
  title text,
  first_seen timestamptz not null,
  last_seen timestamptz not null,
  records bigint not null default 0,
  users bigint[] not null default '{}',
  first_release text,
  last_release text,
  state text not null default 'open',
  opened_at timestamptz not null default now(),
  is_regressed boolean not null default false,
  ignored_until timestamptz,
  resolved_at timestamptz,
  resolved_release text,
  assigned_to text,
  note text,
  merged_into text,
  updated_at timestamptz not null default now(),
  primary key (tenant_id, fingerprint),
  constraint error_groups_state_is_known check (state in ('open', 'resolved', 'ignored')),
  constraint error_groups_resolution_is_whole check (
    (state = 'resolved') = (resolved_at is not null)
  ),
  constraint error_groups_merges_into_another check (merged_into <> fingerprint),
  constraint error_groups_merge_is_of_tenant foreign key (tenant_id, merged_into)
    references logloom.error_groups (tenant_id, fingerprint) on delete cascade
)
with (fillfactor = 70);

create index error_groups_tenant_id_last_seen_idx
on logloom.error_groups (tenant_id, last_seen desc, fingerprint desc);

create index error_groups_merged_into_idx on logloom.error_groups (tenant_id, merged_into);

create policy error_groups_select_tenant on logloom.error_groups
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.error_groups to authenticated, service_role;

comment on table logloom.error_groups is
  'Errors that have the same cause, found by the job group_errors. The group "others" counts the '
  'errors beyond the plan''s max_error_groups.';

comment on column logloom.error_groups.fingerprint is
  'Sixteen hexadecimal digits, made from service, type and place (or template) of the error.';

comment on column logloom.error_groups.title is
  'Type and template of the messages. Null once all records of the group are gone.';

comment on column logloom.error_groups.records is
  'How many records arrived. Retention does not lower it; a deletion does.';

comment on column logloom.error_groups.users is
  'The smallest hashes of the users, at most error_users_kept(). They estimate how many users '
  'there are (Bar-Yossef et al., Counting Distinct Elements in a Data Stream, 2002). No single '
  'user can be removed.';

comment on column logloom.error_groups.opened_at is
  'When the group was made or regressed.';

comment on column logloom.error_groups.resolved_release is
  'The release that fixes the error: only a later release makes the group regress.';

comment on column logloom.error_groups.merged_into is
  'The fingerprint of the group that counts the records of this one.';

create table logloom_private.error_counts (
  tenant_id text not null,
  fingerprint text not null,
  is_day boolean not null,
  at timestamptz not null,
  records bigint not null,
  primary key (tenant_id, fingerprint, is_day, at),
  foreign key (tenant_id, fingerprint) references logloom.error_groups on delete cascade
);

create index error_counts_at_idx on logloom_private.error_counts (is_day, at);

comment on table logloom_private.error_counts is
  'Records of an error group by the hour of their ts for 14 days, and by the UTC day for a year.';

create table logloom_private.releases (
  tenant_id text not null references logloom.tenants on delete cascade,
  release text not null,
  first_seen timestamptz not null,
  primary key (tenant_id, release)
);

comment on table logloom_private.releases is
  'When each release was first seen, in an error or a marker. It orders the releases.';

create table logloom_private.error_progress (
  singleton boolean primary key default true check (singleton),
  counted_from bigint not null,
  write_seq bigint not null
);

insert into logloom_private.error_progress (counted_from, write_seq)
select coalesce(max(w.write_seq), 0), coalesce(max(w.write_seq), 0)
from logloom_private.log_writes w;

comment on table logloom_private.error_progress is
  'The records with a write sequence above counted_from and up to write_seq are counted in groups.';
