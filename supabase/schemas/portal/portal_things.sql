-- Deletes views of customers that nothing uses, at most p_limit. Incidents use a view: they outlive
-- their rule and their alerts, and the customer finds both by the view.
create function logloom_private.purge_customer_views(p_limit integer)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_unused uuid[];
begin
  v_unused := array(
    select v.view_id
    from logloom.log_views v
    where v.customer is not null
      and not exists (select from logloom.log_streams s where s.view_id = v.view_id)
      and not exists (select from logloom.alert_rules r where r.view_id = v.view_id)
      and not exists (select from logloom.alert_incidents i where i.view_id = v.view_id)
    limit p_limit
    for update skip locked
  );
  -- Checks again now that the views are locked: a stream or rule may use a view since.
  delete from logloom.log_views v
  where v.view_id = any (v_unused)
    and not exists (select from logloom.log_streams s where s.view_id = v.view_id)
    and not exists (select from logloom.alert_rules r where r.view_id = v.view_id);
end;
$$;

-- Returns a page of what customers of the tenant made, for public.list_portal_things.
create function logloom_private.things_of_customers(
  p_tenant_id text,
  p_customer text,
  p_limit integer,
  p_after uuid
)
returns setof public.logloom_portal_thing
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role reads streams, which contain their secrets
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(null, 'list_portal_things', p_tenant_id, 'admin');
  v_tenant_id constant text := v_scope.tenant_id;
  v_limit constant integer := logloom_private.list_limit(p_limit);
  v_after timestamptz;
begin
  if p_customer is not null and logloom_private.usable_id(p_customer) is null then
    perform logloom_private.refuse('portal.customer_is_invalid');
  end if;
  select t.created_at into v_after
  from (
    select s.created_at, s.view_id from logloom.log_streams s
    where s.tenant_id = v_tenant_id and s.stream_id = p_after
    union all
    select r.created_at, r.view_id from logloom.alert_rules r
    where r.tenant_id = v_tenant_id and r.rule_id = p_after
  ) t
  join logloom.log_views v on v.view_id = t.view_id
  where v.customer = coalesce(p_customer, v.customer);
  perform logloom_private.page_place(p_after::text, 'thing of a customer', 'thing_id', v_after);
  return query
  with page as materialized (
    select t.*
    from (
      -- A subquery, because a join of tables without statistics compares all rows with all.
      select t.*, (
        select v.customer from logloom.log_views v where v.view_id = t.view_id
      ) as customer
      from (
        select 'stream' as kind, s.stream_id as thing_id, s.view_id, s.created_at
        from logloom.log_streams s
        where s.tenant_id = v_tenant_id
        union all
        select 'rule', r.rule_id, r.view_id, r.created_at
        from logloom.alert_rules r
        where r.tenant_id = v_tenant_id
      ) t
    ) t
    where t.customer = coalesce(p_customer, t.customer)
      and (p_after is null or (t.created_at, t.thing_id) < (v_after, p_after))
    order by t.created_at desc, t.thing_id desc
    limit v_limit
  )
  select
    p.customer, p.kind, p.thing_id, coalesce(s.name, r.name),
    case
      when num_nonnulls(s.held_at, r.held_at) > 0 then 'held'
      when s.pause_reason = 'maker' or r.paused_at is not null then 'paused'
      when p.kind = 'stream' then (logloom_private.log_stream_of(v_scope, s)).status
      when r.enabled then 'enabled'
      else 'disabled'
    end,
    case when p.kind = 'stream' then s.maker else r.created_by end, p.created_at
  from page p
  left join logloom.log_streams s on p.kind = 'stream' and s.stream_id = p.thing_id
  left join logloom.alert_rules r on p.kind = 'rule' and r.rule_id = p.thing_id
  order by p.created_at desc, p.thing_id desc;
end;
$$;

create function public.list_portal_things(
  p_tenant_id text default null,
  p_customer text default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.logloom_portal_thing
language plpgsql
stable
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select t.* from logloom_private.things_of_customers(p_tenant_id, p_customer, p_limit, p_after) t;
end;
$$;

comment on function public.list_portal_things(text, text, integer, uuid) is
  'Log streams and alert rules that customers made in portal sessions, newest first. p_customer: '
  'only this customer''s. p_limit: 1 to 1000 (default 100). p_after: thing_id of the last item of '
  'the page before. For admins. Errors: PT400, PT401, PT403.';

-- Revokes a customer's sessions and deletes what they made, for public.revoke_portal_customer.
create function logloom_private.end_portal_customer(p_tenant_id text, p_customer text)
returns public.logloom_revoked_customer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes sessions, streams and views
declare
  v_tenant_id constant text := logloom_private.resolve_tenant_to_change(p_tenant_id);
  v_views uuid[];
  v_messages uuid[];
  v_ended public.logloom_revoked_customer;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_customer', p_customer is null);
  if logloom_private.usable_id(p_customer) is null then
    perform logloom_private.refuse('portal.customer_is_invalid');
  end if;
  perform logloom_private.wait_for_alert_step();
  -- A session locks the tenant while it creates a thing.
  perform from logloom.tenants t where t.tenant_id = v_tenant_id for no key update;
  v_ended.sessions := logloom_private.revoke_sessions(
    array(
      select s.session_id
      from logloom.portal_sessions s
      where s.tenant_id = v_tenant_id and s.customer = p_customer and s.expires_at > now()
    ),
    jsonb_build_object('customer', p_customer)
  );
  v_views := array(
    select v.view_id
    from logloom.log_views v
    where v.tenant_id = v_tenant_id and v.customer = p_customer
  );
  delete from logloom.log_streams s
  where s.tenant_id = v_tenant_id and s.view_id = any (v_views);
  get diagnostics v_ended.streams = row_count;
  delete from logloom.alert_rules r
  where r.tenant_id = v_tenant_id and r.view_id = any (v_views);
  get diagnostics v_ended.rules = row_count;
  delete from logloom.log_views v
  where v.tenant_id = v_tenant_id and v.view_id = any (v_views);
  -- Locks all messages before any alert is changed, as a delivery does.
  v_messages := array(
    select n.notification_id
    from logloom_private.notifications n
    where n.tenant_id = v_tenant_id and n.customer = p_customer and n.status = 'pending'
    for update
  );
  perform logloom_private.end_notification(n, 'failed', null, 'The customer was revoked')
  from logloom_private.notifications n
  where n.notification_id = any (v_messages);
  delete from logloom_private.notification_addresses a
  where a.tenant_id = v_tenant_id and a.customer = p_customer;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_tenant_id, logloom_private.actor(), 'portal_customer.revoked', p_customer, to_jsonb(v_ended)
  );
  return v_ended;
end;
$$;

create function public.revoke_portal_customer(
  p_tenant_id text default null,
  p_customer text default null
)
returns public.logloom_revoked_customer
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.end_portal_customer(p_tenant_id, p_customer);
end;
$$;

comment on function public.revoke_portal_customer(text, text) is
  'Revokes all sessions of a customer and deletes the log streams and alert rules that they made, '
  'with their waiting messages and confirmed addresses. '
  'Returns {sessions, streams, rules}: how many. You can create new sessions for the customer '
  'afterwards. For admins. Errors: PT400, PT401, PT403, PT429.';
