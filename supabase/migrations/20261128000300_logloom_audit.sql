-- Assembled from supabase/schemas, as of 1.0.0.

set local search_path = pg_catalog, pg_temp;

-- audit/tables/audit_events.sql
-- No foreign key: the log outlives what it tells of, the tenant too.
create table logloom.audit_events (
  event_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  subject text not null,
  details jsonb not null default '{}',
  client_id text default (logloom_private.claims() ->> 'client_id'),
  constraint audit_events_action_is_known check (
    action in (
      'alert_rule.paused',
      'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
      'alert_silence.created', 'alert_silence.expired',
      'ingest_token.created',
      'portal_session.created', 'portal_session.first_used', 'portal_session.revoked',
      'member.added', 'member.changed', 'member.removed', 'member.switched',
      'settings.changed', 'plan.changed',
      'view.created', 'view.changed', 'view.deleted',
      'log_stream.created', 'log_stream.changed', 'log_stream.deleted',
      'dashboard.created', 'dashboard.changed', 'dashboard.deleted',
      'logs.deletion_requested', 'logs.deletion_finished',
      'logs.restore_requested', 'logs.restore_finished'
    )
  )
);

create index audit_events_tenant_id_occurred_at_idx
on logloom.audit_events (tenant_id, occurred_at desc, event_id desc);

create index audit_events_occurred_at_idx on logloom.audit_events using brin (occurred_at);

create policy audit_events_select_tenant on logloom.audit_events
for select to authenticated
using (tenant_id = (select logloom_private.current_tenant_id()));

grant select on logloom.audit_events to authenticated, service_role;

comment on table logloom.audit_events is
  'What was done to keys, members, views, log streams, dashboards, settings and plans, and '
  'deletions of records. Nobody changes or removes an event before settings.audit_lifetime has '
  'gone by.';

comment on column logloom.audit_events.actor is
  'The claim sub of a request; else its role, or the database user.';

comment on column logloom.audit_events.client_id is
  'The OAuth client that acted for the user, where the token was issued to one.';

-- audit/actor.sql
-- Who acts: the user, else the API role, else the login.
create function logloom_private.actor()
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(
    logloom_private.current_user_id(),
    nullif(current_setting('role', true), 'none'),
    session_user::text
  );
end;
$$;

-- audit/audit_tenant_members.sql
-- Audit of members.
create function logloom_private.audit_tenant_members()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_member constant logloom.tenant_members := coalesce(new, old);
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_member.tenant_id,
    logloom_private.actor(),
    case tg_op
      when 'INSERT' then 'member.added'
      when 'DELETE' then 'member.removed'
      else case when new.chosen_at is distinct from old.chosen_at then 'member.switched'
        else 'member.changed' end
    end,
    v_member.user_id,
    case
      when tg_op = 'UPDATE' then logloom_private.changed_members(
        to_jsonb(old) - 'chosen_at', to_jsonb(new) - 'chosen_at'
      )
      else jsonb_strip_nulls(
        jsonb_build_object('role', v_member.role, 'view_id', v_member.view_id)
      )
    end
  );
  return null;
end;
$$;

create trigger audit_tenant_members
after insert or delete or update on logloom.tenant_members
for each row execute function logloom_private.audit_tenant_members();

-- audit/audit_tenant_settings.sql
-- Audit of settings, where a value changed. They go with their tenant, unnoted.
create function logloom_private.audit_tenant_settings()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select new.tenant_id, logloom_private.actor(), 'settings.changed', 'settings', c.changes
  from logloom_private.changed_members(
    case when tg_op = 'UPDATE' then to_jsonb(old) - 'updated_at' end,
    to_jsonb(new) - 'updated_at' - 'tenant_id'
  ) c (changes)
  where c.changes <> '{}';
  return null;
end;
$$;

create trigger audit_tenant_settings
after insert or update on logloom.tenant_settings
for each row execute function logloom_private.audit_tenant_settings();

-- audit/audit_tenants.sql
-- Audit of a change of plan.
create function logloom_private.audit_tenants()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  values (
    new.tenant_id, logloom_private.actor(), 'plan.changed', new.plan_id,
    jsonb_build_object('plan_id', jsonb_build_object('from', old.plan_id, 'to', new.plan_id))
  );
  return null;
end;
$$;

create trigger audit_tenants
after update of plan_id on logloom.tenants
for each row when (old.plan_id is distinct from new.plan_id)
execute function logloom_private.audit_tenants();

-- audit/changed_members.sql
-- The members of p_new that differ from p_old's, each as {from, to}.
create function logloom_private.changed_members(p_old jsonb, p_new jsonb)
returns jsonb
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select coalesce(
      jsonb_object_agg(n.key, jsonb_build_object('from', p_old -> n.key, 'to', n.value)), '{}'
    )
    from jsonb_each(p_new) n
    where n.value is distinct from coalesce(p_old -> n.key, 'null')
  );
end;
$$;

-- audit/list_tenant_audit_events.sql
-- Who did what to keys, members, settings and plans, and who deleted records. Written by triggers,
-- so that no way of changing these passes it by.

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
  'What was done: by whom (a user''s id, or the role of what acted by itself), to which subject '
  '(the id of a key or user, or what the action is about), and the details.';

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
  return query
  select e.event_id, e.tenant_id, e.occurred_at, e.actor, e.action, e.subject, e.details,
    e.client_id
  from logloom.audit_events e
  where e.tenant_id = v_tenant_id
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
  'What was done in the tenant, newest first; p_action, p_ts_from (inclusive) and p_ts_to '
  '(exclusive) narrow it. p_limit 1 to 1000 (default 100), p_after: event_id of the last item of '
  'the page before. Errors: PT400, PT401, PT403.';

select logloom_private.finish_migration();
