-- The audit log. Triggers write most events, so that no change of a row bypasses the log.

create type public.logloom_audit_event as (
  event_id uuid,
  tenant_id text,
  occurred_at timestamptz,
  actor text,
  action text,
  subject text,
  details jsonb,
  client_id text
);

comment on type public.logloom_audit_event is
  'An audit event. actor: a user''s id, or a role. subject: what the action changed, such as the '
  'id of a key or user.';

create function public.list_tenant_audit_events(
  p_tenant_id text default null,
  p_action text default null,
  p_ts_from text default null,
  p_ts_to text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_audit_event
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.resolve_tenant(p_tenant_id);
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_from constant timestamptz := logloom_private.time_parameter('p_ts_from', p_ts_from);
  v_to constant timestamptz := logloom_private.time_parameter('p_ts_to', p_ts_to);
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'audit event', 'event_id',
    (
      select e.occurred_at from logloom.audit_events e
      where e.tenant_id = v_tenant_id and e.event_id = p_after
    )
  );
begin
  if p_action <> all (logloom_private.audit_actions()) then
    perform logloom_private.refuse(
      'parameters.audit_action_is_unknown', left(p_action, 100),
      array_to_string(logloom_private.audit_actions(), ', ')
    );
  end if;
  return query
  select e.event_id, e.tenant_id, e.occurred_at, e.actor, e.action, e.subject, e.details,
    e.client_id
  from logloom.audit_events e
  where e.tenant_id = v_tenant_id and e.source = 'logloom'
    and (p_action is null or e.action = p_action)
    and (v_from is null or e.occurred_at >= v_from)
    and (v_to is null or e.occurred_at < v_to)
    and (p_after is null or (e.occurred_at, e.event_id) < (v_after, p_after))
  order by e.occurred_at desc, e.event_id desc
  limit v_limit;
end;
$$;

comment on function public.list_tenant_audit_events(
  text, text, text, text, integer, uuid
) is
  'Lists the tenant''s audit events, newest first. p_action, p_ts_from (inclusive) and p_ts_to '
  '(exclusive) filter them. p_limit 1 to 1000 (default 100), p_after: event_id of the last item of '
  'the page before. Errors: PT400, PT401, PT403.';
