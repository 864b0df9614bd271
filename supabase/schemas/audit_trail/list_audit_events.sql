-- True if one of the project's own events has the customer as a target. The type must be customer:
-- a row of another table, a user or a role may have the same id.
create function logloom_private.is_of_customer(p_customer text, p_source text, p_targets jsonb)
returns boolean
language sql
stable
return p_source = 'app'
  and p_targets @> jsonb_build_array(jsonb_build_object('type', 'customer', 'id', p_customer));

create function logloom_private.read_audit_trail(
  p_scope logloom_private.reading_scope,
  p_tenant_id text, p_source text, p_actor text, p_action text, p_target text, p_ts_from text,
  p_ts_to text, p_limit integer, p_after uuid
)
returns setof public.logloom_audit_trail_event
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
-- definer because OAuth clients cannot read tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.checked_scope(p_scope, 'list_audit_events', p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'audit event', 'event_id',
    (
      select e.occurred_at from logloom.audit_events e
      where e.tenant_id = v_scope.tenant_id and e.event_id = p_after
        and (
          v_scope.kind <> 'portal_session'
          or logloom_private.is_of_customer(v_scope.customer, e.source, e.targets)
        )
    )
  );
begin
  if p_source not in ('app', 'logloom') then
    perform logloom_private.refuse('audit.source_is_unknown');
  elsif v_from >= v_to then
    perform logloom_private.refuse('search.range_is_empty');
  end if;
  perform logloom_private.take_search_slot(v_scope);
  return query
  with page as (
    select e.*, sum(octet_length(e.details::text) + octet_length(e.targets::text))
      over (order by e.occurred_at desc, e.event_id desc) as bytes
    from (
      select e.*
      from logloom.audit_events e
      where e.tenant_id = v_scope.tenant_id
        and (
          v_scope.kind <> 'portal_session'
          or logloom_private.is_of_customer(v_scope.customer, e.source, e.targets)
        )
        and (p_source is null or e.source = p_source)
        and (p_actor is null or e.actor = p_actor)
        and (
          p_action is null or e.action = p_action
          or p_action like '%*' and starts_with(e.action, left(p_action, -1))
        )
        and (
          p_target is null or e.subject = p_target
          or e.targets @> jsonb_build_array(jsonb_build_object('id', p_target))
        )
        and (v_from is null or e.occurred_at >= v_from)
        and (v_to is null or e.occurred_at < v_to)
        and (p_after is null or (e.occurred_at, e.event_id) < (v_after, p_after))
      order by e.occurred_at desc, e.event_id desc
      limit v_limit
    ) e
  )
  select
    e.event_id, e.tenant_id, e.occurred_at, e.source, e.actor, e.action,
    case e.source when 'app' then e.targets
      else jsonb_build_array(jsonb_build_object('id', e.subject)) end,
    e.details, e.client_id, e.day,
    -- Positions would tell a customer how many events others have.
    case when v_scope.kind <> 'portal_session' then e.position end, e.erased_at
  from page e
  -- A page has at least one event.
  where e.bytes <= greatest(logloom_private.list_bytes(), (select min(p.bytes) from page p))
  order by e.occurred_at desc, e.event_id desc;
exception when query_canceled or lock_not_available then
  perform logloom_private.refuse('search.took_too_long');
end;
$$;

create function public.list_audit_events(
  p_tenant_id text default null, p_source text default null, p_actor text default null,
  p_action text default null, p_target text default null, p_ts_from text default null,
  p_ts_to text default null, p_limit integer default null, p_after uuid default null
)
returns setof public.logloom_audit_trail_event
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
set statement_timeout = '15s'
as $$
begin
  return query
  select e.*
  from logloom_private.read_audit_trail(
    null, p_tenant_id, p_source, p_actor, p_action, p_target, p_ts_from, p_ts_to, p_limit, p_after
  ) e;
end;
$$;

comment on function public.list_audit_events(
  text, text, text, text, text, text, text, integer, uuid
) is
  'Lists the tenant''s audit trail, newest first: the project''s own events (p_source app) and '
  'Logloom''s (logloom). p_actor, p_target: an id. p_action: an action, or how it begins: '
  'invoices.*. p_ts_from (inclusive), p_ts_to (exclusive). p_limit 1 to 1000 (default 100); pages '
  'of large events are shorter. p_after: event_id of the last item of the page before. Errors: '
  'PT400, PT401, PT403, PT408, PT429.';
