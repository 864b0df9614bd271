-- Who did what to keys, members, settings and plans, and who deleted records. Written by triggers,
-- so that no way of changing these passes it by.

create type public.audit_event as (
  event_id uuid,
  tenant_id text,
  occurred_at timestamptz,
  actor text,
  action text,
  subject text,
  details jsonb
);

-- No foreign key: the log outlives what it tells of, the tenant too.
create table app.audit_events (
  event_id uuid primary key default gen_random_uuid(),
  tenant_id text not null,
  occurred_at timestamptz not null default clock_timestamp(),
  actor text not null,
  action text not null,
  subject text not null,
  details jsonb not null default '{}',
  constraint audit_events_action_is_known check (
    action in (
      'api_key.created', 'api_key.changed', 'api_key.revoked', 'api_key.deleted',
      'member.added', 'member.changed', 'member.removed',
      'settings.changed', 'plan.changed',
      'logs.deletion_requested', 'logs.deletion_finished'
    )
  )
);

create index audit_events_tenant_id_occurred_at_idx
on app.audit_events (tenant_id, occurred_at desc, event_id desc);
create index audit_events_occurred_at_idx on app.audit_events using brin (occurred_at);

alter table app.audit_events enable row level security;
alter table app.audit_events force row level security;

create policy audit_events_select_tenant on app.audit_events
for select to authenticated
using (tenant_id = (select private.current_tenant_id()));

grant select on app.audit_events to authenticated, service_role;

create function private.actor()
returns text
language plpgsql
stable
security invoker
set search_path = ''
as $$
begin
  return coalesce(
    private.current_user_id(),
    nullif(current_setting('role', true), 'none'),
    session_user::text
  );
end;
$$;

create function private.changed_members(p_old jsonb, p_new jsonb)
returns jsonb
language plpgsql
immutable
security invoker
set search_path = ''
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

create function private.audit_api_keys()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
declare
  v_key app.api_keys;
begin
  v_key := case when tg_op = 'DELETE' then old else new end;
  insert into app.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_key.tenant_id,
    private.actor(),
    case
      when tg_op = 'INSERT' then 'api_key.created'
      when tg_op = 'DELETE' then 'api_key.deleted'
      when new.revoked_at is not null and old.revoked_at is null then 'api_key.revoked'
      else 'api_key.changed'
    end,
    v_key.key_id::text,
    -- Named one by one: a digest must never come in here.
    jsonb_build_object('name', v_key.name, 'key_prefix', v_key.key_prefix)
    || case
      when tg_op = 'UPDATE' then private.changed_members(
        jsonb_build_object('expires_at', old.expires_at, 'revoked_at', old.revoked_at),
        jsonb_build_object('expires_at', new.expires_at, 'revoked_at', new.revoked_at)
      )
      else jsonb_strip_nulls(jsonb_build_object('expires_at', v_key.expires_at))
    end
  );
  return null;
end;
$$;

create function private.audit_tenant_members()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
declare
  v_member app.tenant_members;
begin
  v_member := case when tg_op = 'DELETE' then old else new end;
  insert into app.audit_events (tenant_id, actor, action, subject, details)
  values (
    v_member.tenant_id,
    private.actor(),
    case tg_op
      when 'INSERT' then 'member.added'
      when 'DELETE' then 'member.removed'
      else 'member.changed'
    end,
    v_member.user_id::text,
    case
      when tg_op = 'UPDATE' then private.changed_members(to_jsonb(old), to_jsonb(new))
      else jsonb_build_object('role', v_member.role)
    end
  );
  return null;
end;
$$;

create function private.audit_tenant_settings()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
begin
  insert into app.audit_events (tenant_id, actor, action, subject, details)
  select new.tenant_id, private.actor(), 'settings.changed', 'settings', c.changes
  from private.changed_members(
    case when tg_op = 'UPDATE' then to_jsonb(old) - 'updated_at' end,
    to_jsonb(new) - 'updated_at' - 'tenant_id'
  ) c (changes)
  where c.changes <> '{}';
  return null;
end;
$$;

create function private.audit_tenants()
returns trigger
language plpgsql
volatile
security definer
set search_path = ''
as $$
-- definer because no API role writes audit events
begin
  insert into app.audit_events (tenant_id, actor, action, subject, details)
  values (
    new.tenant_id, private.actor(), 'plan.changed', new.plan_id,
    jsonb_build_object('plan_id', jsonb_build_object('from', old.plan_id, 'to', new.plan_id))
  );
  return null;
end;
$$;

create trigger audit_api_keys
after insert or delete or update of name, scopes, expires_at, revoked_at on app.api_keys
for each row execute function private.audit_api_keys();

create trigger audit_tenant_members
after insert or delete or update on app.tenant_members
for each row execute function private.audit_tenant_members();

create trigger audit_tenant_settings
after insert or update on app.tenant_settings
for each row execute function private.audit_tenant_settings();

create trigger audit_tenants
after update of plan_id on app.tenants
for each row when (old.plan_id is distinct from new.plan_id)
execute function private.audit_tenants();

create function private.purge_audit_events()
returns void
language plpgsql
volatile
security invoker
set search_path = ''
as $$
begin
  delete from app.audit_events e
  using private.settings s
  where e.occurred_at < now() - s.audit_lifetime;
end;
$$;

create function public.list_audit_events(
  p_tenant_id text default null,
  p_action text default null,
  p_ts_from timestamptz default null,
  p_ts_to timestamptz default null,
  p_limit integer default null,
  p_after uuid default null
)
returns setof public.audit_event
language plpgsql
stable
security invoker
set search_path = ''
as $$
declare
  v_tenant_id constant text := private.resolve_tenant(p_tenant_id);
  v_limit constant integer := private.list_limit(p_limit);
  v_after_occurred_at timestamptz;
begin
  if p_after is not null then
    select e.occurred_at into v_after_occurred_at
    from app.audit_events e
    where e.tenant_id = v_tenant_id and e.event_id = p_after;
    if not found then
      raise sqlstate 'PT400' using
        message = 'Invalid p_after: no such audit event',
        hint = 'Send the event_id of the last item of the page before.';
    end if;
  end if;
  return query
  select e.event_id, e.tenant_id, e.occurred_at, e.actor, e.action, e.subject, e.details
  from app.audit_events e
  where e.tenant_id = v_tenant_id
    and (p_action is null or e.action = p_action)
    and (p_ts_from is null or e.occurred_at >= p_ts_from)
    and (p_ts_to is null or e.occurred_at < p_ts_to)
    and (p_after is null or (e.occurred_at, e.event_id) < (v_after_occurred_at, p_after))
  order by e.occurred_at desc, e.event_id desc
  limit v_limit;
end;
$$;

grant execute on function
  public.list_audit_events(text, text, timestamptz, timestamptz, integer, uuid)
to authenticated, service_role;

comment on type public.audit_event is
  'What was done: by whom (a user''s id, or the role of what acted by itself), to which subject '
  '(the id of a key or user, or what the action is about), and the details.';
comment on table app.audit_events is
  'What was done to keys, members, settings and plans, and deletions of records. Nobody changes or '
  'removes an event before settings.audit_lifetime has gone by.';
comment on column app.audit_events.actor is
  'The claim sub of a request; else its role, or the database user.';
comment on function private.actor() is 'Who acts: the user, else the API role, else the login.';
comment on function private.changed_members(jsonb, jsonb) is
  'The members of p_new that differ from p_old''s, each as {from, to}.';
comment on function private.audit_api_keys() is 'Audit of API keys. Their use is not a change.';
comment on function private.audit_tenant_members() is 'Audit of members.';
comment on function private.audit_tenant_settings() is
  'Audit of settings, where a value changed. They go with their tenant, unnoted.';
comment on function private.audit_tenants() is 'Audit of a change of plan.';
comment on function private.purge_audit_events() is 'Deletes audit events past their lifetime.';
comment on function public.list_audit_events(
  text, text, timestamptz, timestamptz, integer, uuid
) is
  'What was done in the tenant, newest first; p_action, p_ts_from (inclusive) and p_ts_to '
  '(exclusive) narrow it. p_limit 1 to 1000 (default 100), p_after: event_id of the last item of '
  'the page before. Errors: PT400, PT401, PT403.';
