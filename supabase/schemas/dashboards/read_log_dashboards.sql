-- Returns the scope in which a reader gets dashboards: p_scope (of a portal session with the part
-- dashboards), or the scope of the request's token.
create function logloom_private.scope_of_dashboards(
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
    -- Raises PT403 for a viewer without a view
    p_scope := logloom_private.scope_of_token(null);
    perform logloom_private.require_writing_client(logloom_private.claims());
    return p_scope;
  end if;
  return logloom_private.checked_scope(p_scope, p_operation);
end;
$$;

-- Returns the dashboards that a reader may see: a user's own and shared ones; for a viewer, shared
-- ones; for a portal session, shared ones with in_portal. p_dashboard_id: returns only this
-- dashboard.
create function logloom_private.shown_dashboards(
  p_scope logloom_private.reading_scope,
  p_dashboard_id uuid default null
)
returns setof logloom.log_dashboards
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_user_id constant text := case
    when p_scope.kind = 'token' and p_scope.view_id is null then logloom_private.current_user_id()
  end;
begin
  return query
  select d.*
  from logloom.log_dashboards d
  where d.tenant_id = p_scope.tenant_id
    and (p_dashboard_id is null or d.dashboard_id = p_dashboard_id)
    and (d.is_shared or d.created_by = v_user_id)
    and (p_scope.kind = 'token' or d.in_portal);
end;
$$;

-- A dashboard as a reader gets it. A customer gets the session's variables, but not the creator.
create function logloom_private.log_dashboard_for(
  p_row logloom.log_dashboards,
  p_scope logloom_private.reading_scope
)
returns public.logloom_log_dashboard
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_shown public.logloom_log_dashboard := logloom_private.log_dashboard_of(p_row);
begin
  if p_scope.kind <> 'token' then
    v_shown.created_by := null;
    v_shown.variables := (
      select s.variables from logloom.portal_sessions s where s.session_id = p_scope.session_id
    );
  end if;
  return v_shown;
end;
$$;

create function logloom_private.read_log_dashboard(
  p_scope logloom_private.reading_scope,
  p_dashboard_id uuid
)
returns public.logloom_log_dashboard
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because viewers and portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.scope_of_dashboards(p_scope, 'get_log_dashboard');
  v_row logloom.log_dashboards;
begin
  perform logloom_private.require_parameter('p_dashboard_id', p_dashboard_id is null);
  select d.* into v_row from logloom_private.shown_dashboards(v_scope, p_dashboard_id) d;
  if not found then
    perform logloom_private.refuse('dashboards.not_found');
  end if;
  return logloom_private.log_dashboard_for(v_row, v_scope);
end;
$$;

create function public.get_log_dashboard(p_dashboard_id uuid default null)
returns public.logloom_log_dashboard
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.read_log_dashboard(null, p_dashboard_id);
end;
$$;

comment on function public.get_log_dashboard(uuid) is
  'Returns a dashboard of the caller, or one that a colleague shared. Errors: PT400, PT401, PT403, '
  'PT404.';

create function logloom_private.read_log_dashboards(
  p_scope logloom_private.reading_scope,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_log_dashboard
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because viewers and portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.scope_of_dashboards(p_scope, 'list_log_dashboards');
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'dashboard', 'dashboard_id',
    case when p_after is not null then (
      select d.created_at from logloom_private.shown_dashboards(v_scope, p_after) d
    ) end
  );
begin
  return query
  select (p.item).*
  from (
    select
      o.item,
      -- The list stops after list_bytes.
      sum(octet_length(to_json(o.item)::text)) over (
        rows between unbounded preceding and 1 preceding
      ) as bytes_before
    from (
      select o as item
      from logloom_private.shown_dashboards(v_scope) d
      cross join lateral logloom_private.log_dashboard_for(d, v_scope) o
      where p_after is null or (d.created_at, d.dashboard_id) < (v_after, p_after)
      order by d.created_at desc, d.dashboard_id desc
      limit v_limit
    ) o
  ) p
  where coalesce(p.bytes_before, 0) < logloom_private.list_bytes();
end;
$$;

create function public.list_log_dashboards(
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_log_dashboard
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query select d.* from logloom_private.read_log_dashboards(null, p_limit, p_after) d;
end;
$$;

comment on function public.list_log_dashboards(integer, uuid) is
  'Lists the caller''s dashboards and those that colleagues shared, newest first. A viewer gets '
  'only shared ones. p_limit 1 to 1000 (default 100), p_after: dashboard_id of the last item of '
  'the page before. Errors: PT400, PT401, PT403.';
