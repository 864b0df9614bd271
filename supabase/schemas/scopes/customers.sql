-- Customers manage their own log streams and alert rules in a portal session. A row of log_views
-- binds each of these things for good to the session's customer, view and query.

-- Returns the scope in which a caller manages these things. p_scope: the scope of a portal session;
-- null for service_role or a user with the role p_role, who manages all things of the tenant and of
-- its customers. PT403 if p_scope is not of a session whose parts name the operation.
create function logloom_private.managing_scope(
  p_scope logloom_private.reading_scope,
  p_operation text,
  p_tenant_id text,
  p_role text
)
returns logloom_private.reading_scope
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope logloom_private.reading_scope;
begin
  if p_scope is null then
    v_scope.tenant_id := logloom_private.resolve_tenant_to_change(p_tenant_id);
    v_scope.kind := 'token';
    perform logloom_private.require_role(v_scope.tenant_id, p_role);
    return v_scope;
  end if;
  v_scope := logloom_private.checked_scope(p_scope, p_operation, p_tenant_id);
  if (
    v_scope.kind = 'portal_session' and v_scope.customer is not null
    and p_operation = any (v_scope.operations)
  ) is not true
  then
    perform logloom_private.refuse('callers.operation_is_outside', p_operation);
  end if;
  return v_scope;
end;
$$;

-- True if a caller manages a thing with this view: a user manages all things of the tenant, a
-- session the things of its customer. Calling functions check the tenant of the thing.
create function logloom_private.is_managed(p_scope logloom_private.reading_scope, p_view_id uuid)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_scope.kind = 'token' or p_scope.kind = 'portal_session' and exists (
    select
    from logloom.log_views v
    where v.tenant_id = p_scope.tenant_id and v.view_id = p_view_id
      and v.customer = p_scope.customer
  );
end;
$$;

-- True if a caller manages an alert or incident of the view. p_at: the time of the alert. A session
-- manages only alerts since the last change of the view.
create function logloom_private.is_managed_since(
  p_scope logloom_private.reading_scope,
  p_view_id uuid,
  p_at timestamptz
)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.is_managed(p_scope, p_view_id)
    and (
      p_scope.kind = 'token'
      or p_at >= (select v.shows_since from logloom.log_views v where v.view_id = p_view_id)
    );
end;
$$;

-- Returns the customer to whom a thing with this view belongs. Null: to the tenant itself.
create function logloom_private.customer_of_view(p_view_id uuid)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select v.customer from logloom.log_views v where v.view_id = p_view_id);
end;
$$;

-- Returns the view that binds what a session makes; null if there is none yet.
create function logloom_private.view_of_session(p_scope logloom_private.reading_scope)
returns uuid
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select v.view_id
    from logloom.portal_sessions s
    join logloom.log_views v on v.tenant_id = s.tenant_id and v.customer = s.customer
    where s.tenant_id = p_scope.tenant_id and s.session_id = p_scope.session_id
      and v.parent_view_id is not distinct from s.view_id
      and v.query_dsl is not distinct from s.query_dsl
  );
end;
$$;

-- Raises PT403 if a session changes or tests a thing that is bound to another view or query.
-- Otherwise the thing could send records that the session does not see. The session may still list,
-- disable and delete the thing. Users pass. p_what: log stream or alert rule.
create function logloom_private.require_view_of_session(
  p_scope logloom_private.reading_scope,
  p_view_id uuid,
  p_what text
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope.kind <> 'token'
    and p_view_id is distinct from logloom_private.view_of_session(p_scope)
  then
    perform logloom_private.refuse('portal.thing_is_of_other_session', p_what);
  end if;
end;
$$;

-- Raises PT403 if a session enables, disables, deletes or tests a held thing, or enables one that
-- was paused because its maker lost their role. Users pass.
create function logloom_private.require_not_held(
  p_scope logloom_private.reading_scope,
  p_held_at timestamptz,
  p_what text
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope.kind <> 'token' and p_held_at is not null then
    perform logloom_private.refuse('portal.thing_is_held', p_what);
  end if;
end;
$$;

-- Returns the view that binds what a session makes. Creates the view if needed. Locks the view, its
-- parent and the tenant until the transaction ends. PT401 if the session ended meanwhile.
create function logloom_private.customer_view(p_scope logloom_private.reading_scope)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_session logloom.portal_sessions;
  v_view_id uuid;
begin
  perform logloom_private.hold_tenant(p_scope.tenant_id);
  perform from logloom.log_views v where v.view_id = p_scope.view_id for key share;
  -- revoke_portal_customer or delete_log_view may have come before this request.
  select s.* into v_session
  from logloom.portal_sessions s
  where s.tenant_id = p_scope.tenant_id and s.session_id = p_scope.session_id
    and s.customer = p_scope.customer;
  if not found or not logloom_private.portal_session_is_alive(v_session) then
    perform logloom_private.refuse('callers.portal_session_is_over');
  end if;
  select v.view_id into v_view_id
  from logloom.log_views v
  where v.view_id = logloom_private.view_of_session(p_scope)
  for key share;
  if not found then
    insert into logloom.log_views (tenant_id, customer, parent_view_id, query_dsl, created_by)
    values (
      v_session.tenant_id, v_session.customer, v_session.view_id, v_session.query_dsl,
      logloom_private.actor()
    )
    returning view_id into v_view_id;
  end if;
  return v_view_id;
end;
$$;

-- Returns the user whose rights apply to what the caller creates or enables. For a session: the
-- user who created it. Null: the project's secret key.
create function logloom_private.maker_in_scope(p_scope logloom_private.reading_scope)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope.kind = 'portal_session' then
    return (
      select s.created_by
      from logloom.portal_sessions s
      where s.session_id = p_scope.session_id
    );
  end if;
  return case when not logloom_private.is_service_role() then
    logloom_private.current_user_id()
  end;
end;
$$;

-- Raises PT400 if a customer has as many things as the session allows. p_limit: the name of the
-- limit in p_limits, p_default: its value if the session names none, p_count: how many things the
-- customer has. The caller has locked the tenant.
create function logloom_private.require_room_for_customer(
  p_scope logloom_private.reading_scope,
  p_limit text,
  p_default integer,
  p_count bigint
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_max constant bigint := coalesce((p_scope.limits ->> p_limit)::bigint, p_default);
begin
  if p_count >= v_max then
    perform logloom_private.refuse('portal.limit_is_reached', p_limit, v_max::text);
  end if;
end;
$$;

-- Raises PT400 if a customer sends a parameter that only users may send. p_what: the parameter.
create function logloom_private.refuse_for_customer(
  p_scope logloom_private.reading_scope,
  p_what text,
  p_is_sent boolean
)
returns void
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_scope.customer is not null and p_is_sent then
    perform logloom_private.refuse('portal.not_for_customers', p_what);
  end if;
end;
$$;

-- True if things and sessions that a user made may still read: the user is still an admin or owner.
-- p_maker null: the project itself.
create function logloom_private.maker_may_read(p_tenant_id text, p_maker text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_maker is null
    -- If only the user's token has the role, it is unknown here. The user then counts as an admin.
    or coalesce(
      logloom_private.acting_role(p_tenant_id, p_maker) in ('admin', 'owner'),
      (select s.roles_from_token from logloom_private.settings s)
    );
end;
$$;
