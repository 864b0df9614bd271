-- The scope of a reading operation: that of the request's token where none is given. Only the
-- functions that read for keys, which service_role calls, may give one. PT403 for an operation that
-- it does not hold.
create function logloom_private.checked_scope(
  p_scope logloom_private.reading_scope,
  p_operation text
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope is null then
    p_scope := logloom_private.scope_of_token();
  elsif not logloom_private.is_service_role() then
    perform logloom_private.refuse('callers.operation_is_internal', p_operation);
  end if;
  -- Alerts tell of all records: a view opens them by name alone. To customers, who read in portal
  -- sessions, so it opens saved searches, too.
  if p_operation <> all (p_scope.operations)
    or p_scope.operations is null and p_operation = any (case
      when starts_with(p_scope.actor, 'portal ')
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
