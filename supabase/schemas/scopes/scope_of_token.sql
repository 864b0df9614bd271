-- What the request's token lets read: all of its tenant, or what a viewer's view shows; of
-- service_role's the tenant that it names. PT403 for a viewer without a view.
create function logloom_private.scope_of_token(p_tenant_id text)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_claims constant jsonb := logloom_private.claims();
  v_user_id constant text := v_claims ->> 'sub';
  v_scope logloom_private.reading_scope;
  v_view_id uuid;
begin
  v_scope.tenant_id := logloom_private.caller_tenant(p_tenant_id);
  v_scope.kind := 'token';
  if logloom_private.is_service_role() then
    return v_scope;
  elsif logloom_private.acting_role(v_scope.tenant_id, v_user_id, v_claims) = 'viewer' then
    select m.view_id into v_view_id
    from logloom.tenant_members m
    where m.tenant_id = v_scope.tenant_id and m.user_id = v_user_id;
    if not found and pg_input_is_valid(v_claims -> 'app_metadata' ->> 'logloom_view', 'uuid') then
      v_view_id := v_claims -> 'app_metadata' ->> 'logloom_view';
    end if;
    v_scope := logloom_private.scope_in_view(v_scope, v_view_id);
  end if;
  return v_scope;
end;
$$;
