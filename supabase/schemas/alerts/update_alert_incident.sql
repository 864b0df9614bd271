-- Finds a user of the tenant whose user_id or email address is p_name, except viewers, who see no
-- incidents. Returns the user_id. Raises PT400 if no user or more than one is found.
create function logloom_private.assignee_named(p_tenant_id text, p_user_id text, p_name text)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  -- In a tenant without members only the caller is known to belong to it.
  v_ids constant text[] := array(
    select m.user_id
    from logloom.tenant_members m
    where m.tenant_id = p_tenant_id and m.role <> 'viewer'
    union
    select p_user_id
  );
  v_addresses jsonb;
  v_named text[];
begin
  if p_name = any (v_ids) then
    return p_name;
  end if;
  v_addresses := logloom_private.addresses_of_users(p_tenant_id, v_ids);
  v_named := array(
    select a.key from jsonb_each_text(v_addresses) a where lower(a.value) = lower(p_name)
  );
  if cardinality(v_named) <> 1 then
    perform logloom_private.refuse('alerts.assignee_is_unknown');
  end if;
  return v_named[1];
end;
$$;

-- Changes all named incidents, or none if the caller does not manage one of these. A customer can
-- only acknowledge incidents.
create function logloom_private.change_alert_incidents(
  p_scope logloom_private.reading_scope,
  p_incident_ids uuid[],
  p_acknowledged boolean,
  p_assigned_to text,
  p_note text
)
returns public.logloom_success
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because portal sessions have no rights on tables
declare
  v_scope constant logloom_private.reading_scope :=
    logloom_private.managing_scope(p_scope, 'update_alert_incident', null, 'member');
  v_tenant_id constant text := v_scope.tenant_id;
  v_user_id constant text := logloom_private.person_in_scope(v_scope);
  v_note constant text := logloom_private.trim_space(p_note);
  v_assignee text;
  v_held uuid[];
begin
  perform
    logloom_private.require_parameter('p_incident_ids', p_incident_ids is null),
    logloom_private.refuse_for_customer(v_scope, 'p_assigned_to', p_assigned_to is not null),
    logloom_private.refuse_for_customer(v_scope, 'p_note', p_note is not null);
  if cardinality(p_incident_ids) not between 1 and 1000 then
    perform logloom_private.refuse('alerts.too_many_incidents');
  elsif num_nonnulls(p_acknowledged, p_assigned_to, p_note) = 0 then
    perform logloom_private.refuse('alerts.no_change_of_incident');
  elsif length(v_note) > 2000 then
    perform logloom_private.refuse('alerts.incident_note_is_too_long');
  elsif p_assigned_to <> '' then
    v_assignee := logloom_private.assignee_named(v_tenant_id, v_user_id, p_assigned_to);
  end if;
  -- Locked in the order of their ids, so that two callers cannot deadlock.
  v_held := array(
    select i.incident_id
    from logloom.alert_incidents i
    where i.tenant_id = v_tenant_id and i.incident_id = any (p_incident_ids)
      and logloom_private.is_managed_since(v_scope, i.view_id, i.opened_at)
    order by i.incident_id
    for no key update
  );
  if cardinality(v_held) < (select count(*) from (select distinct unnest(p_incident_ids)) n) then
    perform logloom_private.refuse('alerts.incident_not_found');
  end if;
  update logloom.alert_incidents i
  set
    -- The first acknowledgement stays on record.
    acknowledged_at = case
      when p_acknowledged then coalesce(i.acknowledged_at, now())
      when p_acknowledged is null then i.acknowledged_at
    end,
    acknowledged_by = case
      when p_acknowledged then coalesce(i.acknowledged_by, v_user_id)
      when p_acknowledged is null then i.acknowledged_by
    end,
    assigned_to = case when p_assigned_to is null then i.assigned_to else v_assignee end,
    assigned_at = case
      when p_assigned_to is null then i.assigned_at when v_assignee is not null then now()
    end,
    assigned_by = case
      when p_assigned_to is null then i.assigned_by when v_assignee is not null then v_user_id
    end,
    note = case when v_note is null then i.note when v_note <> '' then v_note end,
    noted_at = case when v_note is null then i.noted_at when v_note <> '' then now() end,
    noted_by = case when v_note is null then i.noted_by when v_note <> '' then v_user_id end
  where i.incident_id = any (v_held);
  update logloom.alert_history h
  set
    acknowledged_at = case when p_acknowledged then now() end,
    acknowledged_by = case when p_acknowledged then v_user_id end
  where h.tenant_id = v_tenant_id and h.incident_id = any (v_held)
    and (h.acknowledged_at is null) = p_acknowledged;
  return row(true)::public.logloom_success;
end;
$$;

create function public.update_alert_incident(
  p_incident_ids uuid[] default null,
  p_acknowledged boolean default null,
  p_assigned_to text default null,
  p_note text default null
)
returns public.logloom_success
language plpgsql
volatile
security invoker
set search_path = pg_catalog, pg_temp
as $$
begin
  return logloom_private.change_alert_incidents(
    null, p_incident_ids, p_acknowledged, p_assigned_to, p_note
  );
end;
$$;

comment on function public.update_alert_incident(uuid[], boolean, text, text) is
  'Changes 1 to 1000 incidents; null leaves a part as it is. If one incident is not the '
  'tenant''s, nothing changes. p_acknowledged: true acknowledges the incidents and their alerts '
  '(an earlier acknowledgement is kept), false removes the acknowledgement. p_assigned_to: '
  'user_id or email address of a member, empty for nobody. p_note: at most 2000 characters, '
  'empty for none. Errors: PT400, PT401, PT403, PT404.';

-- Writes audit events for changes of incidents by people. An event says that a note was written,
-- but leaves out the text, because nobody could remove that text from the log.
create function logloom_private.audit_alert_incidents()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes audit events
begin
  insert into logloom.audit_events (tenant_id, actor, action, subject, details)
  select
    new.tenant_id, logloom_private.actor(), 'alert_incident.changed', new.incident_id,
    c.changes || jsonb_strip_nulls(jsonb_build_object(
      'customer', logloom_private.customer_of_view(new.view_id)
    ))
  from logloom_private.changed_members(
    jsonb_build_object(
      'acknowledged_by', old.acknowledged_by, 'assigned_to', old.assigned_to,
      'noted_at', old.noted_at
    ),
    jsonb_build_object(
      'acknowledged_by', new.acknowledged_by, 'assigned_to', new.assigned_to,
      'noted_at', new.noted_at
    )
  ) c (changes)
  where c.changes <> '{}';
  return null;
end;
$$;

create trigger audit_alert_incidents
after update of acknowledged_by, assigned_to, noted_at on logloom.alert_incidents
for each row execute function logloom_private.audit_alert_incidents();
