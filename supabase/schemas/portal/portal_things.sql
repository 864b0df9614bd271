-- Deletes views of customers that nothing uses, at most p_limit.
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
    limit p_limit
    for update skip locked
  );
  -- Asks again now that the views are locked: something may have been bound to one meanwhile.
  delete from logloom.log_views v
  where v.view_id = any (v_unused)
    and not exists (select from logloom.log_streams s where s.view_id = v.view_id)
    and not exists (select from logloom.alert_rules r where r.view_id = v.view_id);
end;
$$;

-- Returns what customers of the tenant made; p_customer null: all customers. For admins.
create function logloom_private.things_of_customers(p_tenant_id text, p_customer text)
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
begin
  return query
  select v.customer, t.kind, t.thing_id, t.name, t.state, t.maker, t.created_at
  from logloom.log_views v
  join (
    select
      'stream' as kind, s.view_id, s.stream_id as thing_id, s.name,
      case when s.held_at is not null then 'held'
        else (logloom_private.log_stream_of(v_scope, s)).status end as state,
      s.maker, s.created_at
    from logloom.log_streams s
    where s.tenant_id = v_tenant_id
    union all
    select
      'rule', r.view_id, r.rule_id, r.name,
      case
      when r.enabled then 'enabled' when r.held_at is null then 'disabled'
      when logloom_private.maker_may_read(r.tenant_id, r.created_by) then 'held' else 'paused'
    end,
    r.created_by, r.created_at
    from logloom.alert_rules r
    where r.tenant_id = v_tenant_id
  ) t on t.view_id = v.view_id
  where v.tenant_id = v_tenant_id and v.customer is not null
    and (p_customer is null or v.customer = p_customer);
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
declare
  v_things constant public.logloom_portal_thing[] := array(
    select t from logloom_private.things_of_customers(p_tenant_id, p_customer) t
  );
  v_after constant timestamptz := logloom_private.page_place(
    p_after::text, 'thing of a customer', 'thing_id',
    (select t.created_at from unnest(v_things) t where t.thing_id = p_after)
  );
begin
  return query
  select t.*
  from unnest(v_things) t
  where p_after is null or (t.created_at, t.thing_id) < (v_after, p_after)
  order by t.created_at desc, t.thing_id desc
  limit logloom_private.list_limit(p_limit);
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
  v_sessions uuid[];
  v_ended public.logloom_revoked_customer;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_customer', p_customer is null);
  if logloom_private.usable_id(p_customer) is null then
    perform logloom_private.refuse('portal.customer_is_invalid');
  end if;
  -- Sessions create things only while they hold the tenant.
  perform from logloom.tenants t where t.tenant_id = v_tenant_id for no key update;
  with ended as (
    update logloom.portal_sessions s
    set revoked_at = now()
    where s.tenant_id = v_tenant_id and s.customer = p_customer
      and s.revoked_at is null and s.expires_at > now()
    returning s.session_id
  )
  select coalesce(array_agg(e.session_id), '{}') into v_sessions from ended e;
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    v_tenant_id, logloom_private.actor(), 'portal_session.revoked', s.session_id::text,
    jsonb_strip_nulls(jsonb_build_object(
      'customer', p_customer, 'first_used_at', s.first_used_at, 'last_used_at', s.last_used_at
    ))
  from logloom.portal_sessions s
  where s.session_id = any (v_sessions);
  v_ended.sessions := cardinality(v_sessions);
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
  'Revokes all sessions of a customer and deletes the log streams and alert rules that they made. '
  'Returns {sessions, streams, rules}: how many. You can create new sessions for the customer '
  'afterwards. For admins. Errors: PT400, PT401, PT403.';
