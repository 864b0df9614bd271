-- The scope of a reading operation: that of the request's token where none is given. Only the
-- functions that read for keys, which service_role calls, may give one. p_tenant_id: the tenant
-- that the request names, where the operation takes one. PT403 for another than the scope's, and
-- for an operation that the scope does not hold.
create function logloom_private.checked_scope(
  p_scope logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text default null
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope is null then
    p_scope := logloom_private.scope_of_token(p_tenant_id);
  elsif not logloom_private.is_service_role() then
    perform logloom_private.refuse('callers.operation_is_internal', p_operation);
  elsif p_tenant_id <> p_scope.tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  end if;
  -- Alerts tell of all records: a view opens them by name alone. To customers, who read in portal
  -- sessions, so it opens saved searches, too.
  if p_operation <> all (p_scope.operations)
    or p_scope.operations is null and p_operation = any (case
      when p_scope.kind = 'portal_session'
        then '{list_alert_rules,list_alert_history,list_saved_searches}'::text[]
      when p_scope.view_id is not null then '{list_alert_rules,list_alert_history}'
      else '{}'
    end)
  then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  end if;
  return p_scope;
end;
$$;
