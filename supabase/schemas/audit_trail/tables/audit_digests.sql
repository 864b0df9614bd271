create table logloom.audit_digests (
  tenant_id text not null,
  day date not null,
  events bigint not null default 0,
  digest bytea not null,
  previous_digest bytea not null,
  closed_at timestamptz,
  record_error text,
  primary key (tenant_id, day)
);

create index audit_digests_open_idx on logloom.audit_digests (day) where closed_at is null;

create policy audit_digests_select_tenant on logloom.audit_digests
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.audit_digests to authenticated, service_role;

comment on table logloom.audit_digests is
  'The UTC days of each tenant''s audit trail that have events. digest: the day''s last link. '
  'previous_digest: the digest of the row before, from which the day''s chain continues. Empty for '
  'the first row. closed_at: when the day was over and its digest was stored as a log record. '
  'record_error: why there is no record, such as a month''s quota that is used up.';
