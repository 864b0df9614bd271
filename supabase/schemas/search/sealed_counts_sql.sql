-- SQL: level, service and events of the tenant's sealed records of a range that a query finds,
-- level and service as far as it groups by them.
create function logloom_private.sealed_counts_sql(
  p_tenant_id text,
  p_query logloom_private.compiled_query,
  p_from timestamptz,
  p_to timestamptz
)
returns text
language sql
stable
return 'select l.level, l.service, l.events from logloom_private.sealed_counts(' || format(
  '%s, %L, %L, %L, %L',
  logloom_private.scanned_tenant_sql(quote_literal(p_tenant_id)),
  p_from, p_to, p_query.tree, p_query.by_fields
) || ') l';
