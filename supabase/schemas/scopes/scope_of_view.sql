-- What a log stream or the message of an alert reads, for which no request asks: all of its tenant,
-- or what its view shows. PT403 where there is no such view, or its query does not compile.
create function logloom_private.scope_of_view(p_tenant_id text, p_view_id uuid)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
begin
  v_scope.tenant_id := p_tenant_id;
  v_scope.kind := 'view';
  if p_view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_view_id);
  end if;
  return v_scope;
end;
$$;
