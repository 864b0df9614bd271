create type public.logloom_log_view as (
  view_id uuid,
  tenant_id text,
  name text,
  query_dsl text,
  hidden_fields text[],
  operations text[],
  created_by text,
  created_at timestamptz,
  updated_at timestamptz
);

comment on type public.logloom_log_view is
  'A view limits what its readers get. query_dsl: they get the records that it finds (null: all). '
  'hidden_fields: they do not get these fields. operations: they may call these (null: all that '
  'read, except those that list alerts). created_by: the claim sub of its creator, or '
  'service_role.';
