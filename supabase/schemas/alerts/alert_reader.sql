-- Who lists alerts: the scope of the reader or, by service_role, that of the tenant that it names.
-- PT403 for a user who names another tenant.
create function logloom_private.alert_reader(
  p_scope logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope is null and logloom_private.is_service_role() then
    p_scope.tenant_id := logloom_private.resolve_tenant(p_tenant_id);
    return p_scope;
  end if;
  p_scope := logloom_private.checked_scope(p_scope, p_operation);
  if p_tenant_id <> p_scope.tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  return p_scope;
end;
$$;

-- Whether who lists alerts may see where they are sent: addresses are secrets, which who only reads
-- has no use for.
create function logloom_private.sees_addresses(
  p_is_key boolean,
  p_scope logloom_private.reading_scope
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return not p_is_key and p_scope.view_id is null
    and logloom_private.reads_only(logloom_private.claims()) is not true;
end;
$$;
