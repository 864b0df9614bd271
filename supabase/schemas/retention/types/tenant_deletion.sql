create type public.logloom_tenant_deletion as (
  deletion_id uuid,
  tenant_id text,
  requested_at timestamptz
);

comment on type public.logloom_tenant_deletion is
  'A tenant on its way out; deletion_id is that of the receipt.';
