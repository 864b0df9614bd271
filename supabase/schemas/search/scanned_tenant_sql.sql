-- Seam. SQL: the tenant's id, which p_tenant is SQL of, for a function that reads sealed records
-- and takes the scan slot meanwhile, wherever it runs.
create function logloom_private.scanned_tenant_sql(p_tenant text)
returns text
language sql
stable
return p_tenant;
