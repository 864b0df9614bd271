-- Returns the tenant if it exists and is not being deleted, otherwise null. Other tenants get no
-- events, because delete_tenant could miss such events.
create function logloom_private.audited_tenant(p_tenant_id text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select t.tenant_id
    from logloom.tenants t
    where t.tenant_id = p_tenant_id and not exists (
      select
      from logloom_private.tenant_deletions d
      where d.tenant_id = p_tenant_id and d.finished_at is null
    )
  );
end;
$$;

-- Checks an event and stores it for the tenant of the token. Only service_role, the owner, and
-- roles with a grant on logloom.audit() can name another tenant and an actor. anon and
-- authenticated never can. A token creates its tenant, as for ingest. A named tenant must exist,
-- unless provision_by_secret_key is on.
create function logloom_private.audit_here(
  p_action text, p_targets jsonb, p_context jsonb, p_tenant_id text, p_actor text
)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
declare
  v_is_user constant boolean :=
    coalesce(current_setting('role', true) in ('anon', 'authenticated'), false);
  v_claims constant jsonb := logloom_private.claims();
  v_own constant text := logloom_private.tenant_of_claims(v_claims);
  v_tenant_id constant text := logloom_private.usable_id(
    coalesce(case when not v_is_user then p_tenant_id end, v_own)
  );
  v_action constant text := logloom_private.trim_space(p_action);
  v_targets jsonb := '[]';
  v_event_id uuid;
begin
  if logloom_private.is_service_role() and v_claims is not null
    and not logloom_private.token_is_valid(v_claims, true)
  then
    perform logloom_private.refuse('callers.not_known');
  elsif v_tenant_id is null then
    perform logloom_private.refuse(case when v_is_user then 'callers.tenant_is_missing'
      when p_tenant_id is null then 'callers.tenant_must_be_named'
      else 'callers.tenant_is_invalid' end);
  elsif p_tenant_id <> v_tenant_id then
    perform logloom_private.refuse('callers.tenant_is_another');
  elsif p_actor is not null and (v_is_user or logloom_private.usable_id(p_actor) is null) then
    perform logloom_private.refuse('audit.actor_is_invalid');
  elsif coalesce(v_action, '') !~ '^[^\u0001-\u001f\u007f-\u009f]{1,200}$' then
    perform logloom_private.refuse('audit.action_is_invalid');
  elsif jsonb_typeof(p_context) <> 'object' or octet_length(p_context::text) > 16000 then
    perform logloom_private.refuse('audit.context_is_invalid');
  elsif jsonb_typeof(p_targets) <> 'array' or octet_length(p_targets::text) > 8000 then
    perform logloom_private.refuse('audit.targets_are_invalid');
  elsif p_targets <> '[]' then
    -- An id may be a number; it is stored as a text.
    select case when bool_and(coalesce(
        jsonb_typeof(t.target -> 'id') in ('string', 'number')
        and length(t.target ->> 'id') between 1 and 255, false
      )) then jsonb_agg(t.target || jsonb_build_object('id', t.target ->> 'id') order by t.n) end
    into v_targets
    from jsonb_array_elements(p_targets) with ordinality t (target, n);
    if v_targets is null then
      perform logloom_private.refuse('audit.targets_are_invalid');
    end if;
  end if;
  if logloom_private.audited_tenant(v_tenant_id) is null then
    if logloom_private.is_being_deleted(v_tenant_id) or v_tenant_id is distinct from v_own
      and not (select s.provision_by_secret_key from logloom_private.settings s)
    then
      perform logloom_private.refuse('ingest.tenant_is_not_known', v_tenant_id);
    end if;
    perform logloom_private.provision_tenant(v_tenant_id, v_claims);
  end if;
  insert into logloom.audit_events (
    tenant_id, source, actor, action, subject, targets, details
  )
  values (
    v_tenant_id, 'app', coalesce(p_actor, logloom_private.actor()), v_action,
    coalesce(v_targets -> 0 ->> 'id', ''), v_targets, coalesce(p_context, '{}')
  )
  returning event_id into v_event_id;
  return v_event_id;
end;
$$;

create function logloom.audit(
  action text,
  targets jsonb default '[]',
  context jsonb default '{}',
  p_tenant_id text default null
)
returns uuid
language plpgsql
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.audit_here(action, targets, context, p_tenant_id, null);
end;
$$;

comment on function logloom.audit(text, jsonb, jsonb, text) is
  'For SQL of the project: records an event in the audit trail, in the caller''s transaction, and '
  'returns its id. targets: what was changed, [{"type": "invoice", "id": "42"}]. The actor is the '
  'user of the request, or else the role. p_tenant_id: for roles other than anon and '
  'authenticated; the tenant of the token by default. Errors: PT400, PT401, PT403, PT404.';

create function public.record_audit_event(
  p_tenant_id text default null, p_action text default null, p_targets jsonb default null,
  p_context jsonb default null, p_actor text default null
)
returns uuid
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id constant text := logloom_private.provision_current_tenant(p_tenant_id);
  v_today constant timestamp := date_trunc('day', now() at time zone 'UTC');
  v_limit constant integer := (logloom_private.plan_of(v_tenant_id)).audit_events_per_day;
begin
  perform logloom_private.require_role(v_tenant_id, 'admin');
  perform logloom_private.require_parameter('p_action', p_action is null);
  if exists (
    select from logloom.audit_digests d
    where d.tenant_id = v_tenant_id and d.day = v_today::date and d.events >= v_limit
  ) then
    perform logloom_private.refuse_for_now(
      86400 - extract(epoch from now() at time zone 'UTC' - v_today)::integer,
      'audit.day_is_full', v_limit::text
    );
  end if;
  return logloom_private.audit_here(p_action, p_targets, p_context, v_tenant_id, p_actor);
end;
$$;

comment on function public.record_audit_event(text, text, jsonb, jsonb, text) is
  'For backends: records an event of the project in the audit trail and returns its id. Requires '
  'the role admin, or service_role. p_action: what happened, such as invoice.approved. p_targets: '
  'objects with an id, at most 8000 bytes. p_context: an object, at most 16000 bytes. p_actor: who '
  'acted, only for service_role. Errors: PT400, PT401, PT403, PT429.';
