-- What a portal session lets read: what its view shows, of that what its query finds. p_origin: of
-- the page that frames the portal, as the portal reports it; null where none does. PT401 for a
-- session that has ended, PT403 for a page that it does not name.
create function logloom_private.scope_of_session(
  p_session logloom.portal_sessions,
  p_origin text
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
  v_tree jsonb;
begin
  if p_session.revoked_at is not null then
    perform logloom_private.refuse('callers.portal_session_is_revoked');
  elsif not logloom_private.portal_session_is_alive(p_session) then
    perform logloom_private.refuse('callers.portal_session_is_over');
  elsif p_origin is not null and p_origin <> all (p_session.origins) then
    perform logloom_private.refuse('callers.portal_origin_is_unknown', left(p_origin, 200));
  end if;
  v_scope.tenant_id := p_session.tenant_id;
  v_scope.kind := 'portal_session';
  if p_session.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_session.view_id);
  end if;
  if p_session.query_dsl is not null then
    begin
      v_tree := (logloom_private.compile_query(p_session.query_dsl)).tree;
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.portal_query_is_broken');
    end;
    v_scope.filter := case when v_scope.filter is null then v_tree
      else jsonb_build_object(
        'type', 'and', 'items', jsonb_build_array(v_scope.filter, v_tree)
      ) end;
  end if;
  return v_scope;
end;
$$;
