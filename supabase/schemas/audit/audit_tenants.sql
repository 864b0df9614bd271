-- Returns the actor of an audit event: the portal session, or else the user, or else the API role,
-- or else the database login.
create function logloom_private.actor()
returns text
language sql
stable
return coalesce(
  'portal ' || nullif(current_setting('logloom.portal_session', true), ''),
  logloom_private.current_user_id(),
  nullif(current_setting('role', true), 'none'),
  session_user::text
);

-- Returns the members of p_new that differ from p_old, each as {from, to}.
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

-- Audits changes of plans.
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

-- Audits changes of a tenant's settings, but not their deletion with the tenant.
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
    to_jsonb(new) - array['updated_at', 'tenant_id', 'rules_days_max']
  ) c (changes)
  where c.changes <> '{}';
  return null;
end;
$$;

create trigger audit_tenant_settings
after insert or update on logloom.tenant_settings
for each row execute function logloom_private.audit_tenant_settings();

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
