-- A scope within a view of its tenant, as the view is now: now in its query is this moment. PT403
-- where there is no such view, or its query does not compile.
create function logloom_private.scope_in_view(
  p_scope logloom_private.reading_scope,
  p_view_id uuid
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_view logloom.log_views;
begin
  select v.* into v_view
  from logloom.log_views v
  where v.tenant_id = p_scope.tenant_id and v.view_id = p_view_id;
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  end if;
  p_scope.view_id := v_view.view_id;
  p_scope.operations := v_view.operations;
  p_scope.hidden_fields := nullif(v_view.hidden_fields, '{}');
  if v_view.query_dsl is not null then
    begin
      p_scope.filter := (logloom_private.compile_query(v_view.query_dsl)).tree;
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.view_is_broken', v_view.name);
    end;
  end if;
  return p_scope;
end;
$$;
