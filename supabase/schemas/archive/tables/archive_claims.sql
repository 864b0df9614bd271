create table logloom_private.archive_claims (
  claim_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  kind text not null,
  part_id uuid,
  run_id uuid,
  object_key text,
  records integer,
  first_ts timestamptz,
  last_ts timestamptz,
  last_id uuid,
  claimed_at timestamptz not null default clock_timestamp(),
  expires_at timestamptz not null,
  constraint archive_claims_kind_is_known check (
    kind in (
      'adopt', 'check', 'compare', 'delete', 'erase', 'note', 'recall', 'restore', 'write'
    )
  )
);

create unique index archive_claims_tenant_id_idx on logloom_private.archive_claims (tenant_id);

comment on table logloom_private.archive_claims is
  'Leases of the function logloom-archive: one of a tenant at a time, and one, of no tenant, for '
  'what is about the bucket.';
