create type public.logloom_tenant_deletion as (
  deletion_id uuid,
  tenant_id text,
  requested_at timestamptz
);

comment on type public.logloom_tenant_deletion is
  'A tenant that is being deleted. The receipt has the same deletion_id.';
