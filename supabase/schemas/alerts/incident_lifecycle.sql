-- Returns the last incident of a rule; for a rule with by, the last one of the group.
create function logloom_private.last_incident(p_rule_id uuid, p_group jsonb)
returns logloom.alert_incidents
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select i
    from logloom.alert_incidents i
    where i.rule_id = p_rule_id and i."group" is not distinct from p_group
    -- Incidents can have the same opened_at, when a rule catches up on several windows.
    order by i.opened_at desc, i.held_until desc
    limit 1
  );
end;
$$;

-- Records that a rule's condition held in a window. Returns the incident of the window:
-- - the open incident, if there is one;
-- - the last incident, opened again: if the rule fires for a window up to quiet_from, or if the
--   cooldown suppresses a window after held_until;
-- - a new incident, if the rule fires;
-- - otherwise null.
create function logloom_private.held_incident(
  p_rule logloom.alert_rules,
  p_window logloom_private.alert_window,
  p_now timestamptz,
  p_fires boolean
)
returns uuid
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last constant logloom.alert_incidents :=
    logloom_private.last_incident(p_rule.rule_id, p_window."group");
  v_incident_id uuid;
begin
  update logloom.alert_incidents i
  set
    resolved_at = null,
    resolution = null,
    quiet_from = null,
    end_told_at = case when not p_fires then i.end_told_at end,
    last_fired_at = case when p_fires then p_now else i.last_fired_at end,
    fired_count = i.fired_count + p_fires::integer,
    value = case when p_window.window_end >= i.held_until then p_window.value else i.value end,
    peak_value = case
      when abs(p_window.value - i.threshold) > abs(i.peak_value - i.threshold) then p_window.value
      else i.peak_value
    end,
    held_until = greatest(i.held_until, p_window.window_end)
  where i.incident_id = v_last.incident_id
    and (
      i.resolved_at is null
      or i.resolution in ('recovered', 'still_absent')
      -- An incident shows the question that the rule, or its view, asked then.
      and i.resolved_at >= p_rule.asked_at
      and case when p_fires then p_window.window_end <= i.quiet_from
        else p_window.window_end > i.held_until end
    )
  returning i.incident_id into v_incident_id;
  if not found and p_fires then
    insert into logloom.alert_incidents (
      tenant_id, rule_id, rule_name, query_dsl, window_minutes, threshold, comparison, "group",
      view_id, opened_at, last_fired_at, value, peak_value, held_until
    )
    values (
      p_rule.tenant_id, p_rule.rule_id, p_rule.name, p_rule.query_dsl, p_rule.window_minutes,
      p_rule.threshold, p_rule.comparison, p_window."group", p_rule.view_id, p_now, p_now,
      p_window.value, p_window.value, p_window.window_end
    )
    returning incident_id into v_incident_id;
  end if;
  return v_incident_id;
end;
$$;

-- Ends the open incidents of a rule, except for the groups in p_held. resolution: still_absent for
-- a missing group that is no longer watched, otherwise recovered. p_seen: groups in the window.
-- p_decided: ends only incidents of these groups (null: all).
create function logloom_private.resolve_incidents(
  p_rule logloom.alert_rules,
  p_window_end timestamptz,
  p_seen jsonb[],
  p_held jsonb[],
  p_now timestamptz,
  p_decided jsonb[]
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.alert_incidents i
  set resolved_at = p_now, quiet_from = p_window_end,
    resolution = case
      when p_rule.on_absent = 'fire' and i."group" <> all (p_seen) then 'still_absent'
      else 'recovered'
    end
  where i.rule_id = p_rule.rule_id
    and i.resolved_at is null
    and i.held_until < p_window_end
    and coalesce(i."group", 'null') <> all (p_held)
    and (p_decided is null or coalesce(i."group", 'null') = any (p_decided));
end;
$$;

-- A rule that is deleted, disabled or changed will not report a recovery, so its incidents end.
create function logloom_private.close_incidents_of_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role ends incidents
begin
  update logloom.alert_incidents i
  set
    resolved_at = greatest(now(), i.opened_at),
    resolution = case
      when tg_op = 'DELETE' then 'rule_deleted'
      when new.enabled then 'rule_changed'
      else 'rule_disabled'
    end
  where i.rule_id = old.rule_id and i.resolved_at is null
    -- If the tenant is deleted, its incidents are deleted, too.
    and exists (select from logloom.tenants t where t.tenant_id = i.tenant_id);
  delete from logloom_private.alert_states a where a.rule_id = old.rule_id;
  return case tg_op when 'DELETE' then old else new end;
end;
$$;

create trigger alert_rules_close_incidents_on_change
after update of enabled, asked_at on logloom.alert_rules
-- If the clock was set back, a new asked_at may be earlier than the old one.
for each row when (old.enabled and not new.enabled or new.asked_at > old.asked_at)
execute function logloom_private.close_incidents_of_rule();

-- Runs before the deletion, because the rule says who is notified.
create trigger alert_rules_close_incidents_on_delete
before delete on logloom.alert_rules
for each row execute function logloom_private.close_incidents_of_rule();

-- Waits until the current step of an alert round ends. Callers lock several rules, and a round
-- locks them in another order. PT429 after 5 seconds.
create function logloom_private.wait_for_alert_step()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_wait text;
begin
  v_wait := logloom_private.limit_lock_wait('5 s');
  perform
    pg_advisory_xact_lock(logloom_private.lock_key('alerts')),
    logloom_private.restore_lock_wait(v_wait);
exception when lock_not_available then
  perform logloom_private.refuse_for_now(5, 'portal.round_is_running');
end;
$$;

-- Locks the enabled rules of a view, also those of customers, so that no alert round judges them
-- meanwhile. Waits without a lock, because a round locks rules in another order. PT429 after 5
-- seconds.
create function logloom_private.hold_rules_of_view(p_tenant_id text, p_view_id uuid)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_deadline constant timestamptz := clock_timestamp() + interval '5 s';
begin
  loop
    begin
      perform
      from logloom.alert_rules r
      join logloom.log_views v on v.tenant_id = r.tenant_id and v.view_id = r.view_id
      where r.tenant_id = p_tenant_id and p_view_id in (v.view_id, v.parent_view_id) and r.enabled
      for no key update of r nowait;
      return;
    exception when lock_not_available then
      if clock_timestamp() > v_deadline then
        perform logloom_private.refuse_for_now(5, 'portal.round_is_running');
      end if;
      perform pg_sleep(0.05);
    end;
  end loop;
end;
$$;

-- Starts the rules of a changed view again, also those of customers: open incidents end, and only
-- windows that end after p_at are evaluated.
create function logloom_private.restart_rules_of_view(
  p_tenant_id text,
  p_view_id uuid,
  p_at timestamptz
)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update logloom.alert_rules r
  set asked_at = p_at
  from logloom.log_views v
  where v.tenant_id = p_tenant_id and p_view_id in (v.view_id, v.parent_view_id)
    and r.tenant_id = v.tenant_id and r.view_id = v.view_id and r.enabled;
end;
$$;
