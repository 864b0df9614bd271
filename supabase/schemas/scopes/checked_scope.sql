-- Returns the scope of a reading operation: p_scope, or the scope of the request's token. Only
-- service_role may pass a scope: it reads for keys and portal sessions. p_tenant_id: the tenant
-- that the request names, if the operation takes one. PT403 if this is not the scope's tenant, or
-- if the scope does not allow the operation.
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
  -- These operations tell about the whole tenant. In a view or portal session, they need a customer
  -- and a part of the portal that names them.
  if p_operation in ('get_tenant_usage', 'list_audit_events')
    and (p_scope.view_id is not null or p_scope.kind = 'portal_session')
    and (p_scope.customer is null or (p_operation = any (p_scope.operations)) is not true)
  then
    perform logloom_private.refuse(
      case p_operation when 'list_audit_events' then 'audit.not_in_views'
        else 'usage.not_in_views' end
    );
  end if;
  -- Alerts tell about all records, so a view allows operations on alerts only if it names them. In
  -- portal sessions, the same is true for operations on saved searches and errors.
  if p_operation <> all (p_scope.operations)
    or p_scope.operations is null and p_operation = any (case
      when p_scope.kind = 'portal_session'
        then '{list_alert_rules,list_alert_history,list_saved_searches,list_error_groups,'
          'get_error_group}'::text[]
      when p_scope.view_id is not null then '{list_alert_rules,list_alert_history}'
      else '{}'
    end)
  then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  end if;
  return p_scope;
end;
$$;
