-- The notifications of the end of an incident, in the transaction that ends it, once for what
-- somebody was told of it.
create function logloom_private.enqueue_recovery()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
  v_end logloom.alert_history;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  if not found
    or not (v_rule.notify_on_recovery or 'pagerduty' = any (v_rule.notification_destinations))
    or new.end_told_at is not null
  then
    return null;
  end if;
  v_end.incident_id := new.incident_id;
  v_end."group" := new."group";
  perform
  from logloom_private.enqueue_notifications(
    v_rule, 'recovery', v_end, logloom_private.recovery_body(v_rule, new),
    logloom_private.silence_of_alert(
      new.tenant_id, new.rule_id, new."group", new.resolved_at
    ) is not null
  );
  if found then
    update logloom.alert_incidents i
    set end_told_at = new.resolved_at
    where i.incident_id = new.incident_id;
  end if;
  return null;
end;
$$;

create trigger alert_incidents_enqueue_recovery
after update of resolved_at on logloom.alert_incidents
for each row when (old.resolved_at is null and new.resolved_at is not null)
execute function logloom_private.enqueue_recovery();
