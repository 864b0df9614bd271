-- True if a portal session is active. It ends when its creator may no longer create sessions.
create function logloom_private.portal_session_is_alive(p_session logloom.portal_sessions)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_session.expires_at > now()
    and p_session.revoked_at is null
    and not logloom_private.is_being_deleted(p_session.tenant_id)
    and logloom_private.maker_may_read(p_session.tenant_id, p_session.created_by);
end;
$$;

-- Joins two filters as trees, so that no text of one can widen the other. Null: no limit.
create function logloom_private.both_filters(p_one jsonb, p_other jsonb)
returns jsonb
language sql
stable
return case when p_one is null then p_other when p_other is null then p_one
  else jsonb_build_object('type', 'and', 'items', jsonb_build_array(p_one, p_other)) end;

-- Narrows a scope by a query. PT400 if the query does not compile.
create function logloom_private.narrowed_scope(
  p_scope logloom_private.reading_scope,
  p_query_dsl text,
  p_now timestamptz default now()
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_query constant logloom_private.compiled_query :=
    logloom_private.parse_query(p_query_dsl, p_now);
begin
  p_scope.filter := logloom_private.both_filters(p_scope.filter, v_query.tree);
  p_scope.names_now := v_query.names_now or p_scope.names_now is true;
  return p_scope;
end;
$$;

-- Narrows a scope to a view of its tenant, as the view is at present. A customer's view narrows its
-- parent. "now" in the view's query means p_now. PT403 if the view is missing or its query does not
-- compile.
create function logloom_private.scope_in_view(
  p_scope logloom_private.reading_scope,
  p_view_id uuid,
  p_now timestamptz default now()
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
  where v.tenant_id = p_scope.tenant_id and v.view_id = p_view_id
    -- Only log streams and alert rules are bound to customers' views.
    and (v.customer is null or p_scope.kind = 'view');
  if not found then
    perform logloom_private.refuse('callers.view_is_missing');
  elsif v_view.customer is null then
    p_scope.operations := v_view.operations;
    p_scope.hidden_fields := nullif(v_view.hidden_fields, '{}');
  elsif v_view.parent_view_id is not null then
    begin
      p_scope := logloom_private.scope_in_view(p_scope, v_view.parent_view_id, p_now);
    exception when sqlstate 'PT403' then
      perform logloom_private.refuse('callers.portal_query_is_broken');
    end;
  end if;
  p_scope.view_id := v_view.view_id;
  if v_view.query_dsl is not null then
    begin
      p_scope := logloom_private.narrowed_scope(p_scope, v_view.query_dsl, p_now);
    exception when sqlstate 'PT400' then
      -- Customers never see the name of the view.
      if v_view.customer is not null or p_scope.kind = 'portal_session' then
        perform logloom_private.refuse('callers.portal_query_is_broken');
      end if;
      perform logloom_private.refuse('callers.view_is_broken', v_view.name);
    end;
  end if;
  return p_scope;
end;
$$;

-- Returns the scope in which an API key may call a reading operation: its whole tenant, or its
-- view. p_key_digest: SHA-256 of the key as hex. PT401 if the key is unknown, revoked or expired.
-- PT403 if its scopes do not allow the operation.
create function logloom_private.scope_of_key(p_key_digest text, p_operation text)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key constant logloom.api_keys := logloom_private.key_of_digest(p_key_digest);
  v_scope logloom_private.reading_scope;
begin
  if v_key.key_id is null then
    perform logloom_private.refuse('callers.key_is_unknown');
  elsif p_operation = 'list_audit_events' then
    if not v_key.scopes @> '{audit}' then
      perform logloom_private.refuse('audit.key_lacks_scope');
    end if;
  elsif not v_key.scopes @> '{read}' then
    perform logloom_private.refuse(
      case when v_key.scopes @> '{audit}' then 'audit.key_lacks_read'
        else 'callers.key_may_only_send' end
    );
  end if;
  v_scope.tenant_id := v_key.tenant_id;
  v_scope.kind := 'key';
  if v_key.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, v_key.view_id);
  end if;
  return v_scope;
end;
$$;

-- Returns the scope of a portal session: its view, narrowed by the session's query and parts.
-- p_origin: the origin of the page that frames the portal, if any. PT401 if the session has ended.
-- PT403 if the session does not name the origin.
create function logloom_private.scope_of_session(p_session logloom.portal_sessions, p_origin text)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
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
  v_scope.customer := p_session.customer;
  v_scope.limits := p_session.limits;
  v_scope.session_id := p_session.session_id;
  if p_session.view_id is not null then
    v_scope := logloom_private.scope_in_view(v_scope, p_session.view_id);
  end if;
  if p_session.query_dsl is not null then
    begin
      v_scope := logloom_private.narrowed_scope(v_scope, p_session.query_dsl);
    exception when sqlstate 'PT400' then
      perform logloom_private.refuse('callers.portal_query_is_broken');
    end;
  end if;
  if p_session.parts is not null then
    v_scope.operations := logloom_private.operations_of_parts(
      p_session.parts, v_scope.operations
    );
  end if;
  return v_scope;
end;
$$;

-- Returns the scope of the request's token: its whole tenant; for a viewer, their view; for
-- service_role, the named tenant. PT403 for a viewer without a view.
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

-- Returns the scope of a log stream or of an alert's message, which have no request: the whole
-- tenant, or its view. PT403 if the view is missing or its query does not compile.
create function logloom_private.scope_of_view(
  p_tenant_id text,
  p_view_id uuid,
  p_now timestamptz default now()
)
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
    v_scope := logloom_private.scope_in_view(v_scope, p_view_id, p_now);
  end if;
  return v_scope;
end;
$$;
