-- A rule that is deleted, disabled or asks something else is not going to say that it recovered:
-- its incidents end with it.
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
    resolved_at = now(),
    resolution = case
      when tg_op = 'DELETE' then 'rule_deleted'
      when new.enabled then 'rule_changed'
      else 'rule_disabled'
    end
  where i.rule_id = old.rule_id and i.resolved_at is null;
  return case tg_op when 'DELETE' then old else new end;
end;
$$;

create trigger alert_rules_close_incidents_on_change
after update of enabled, asked_at on logloom.alert_rules
-- A clock that went back makes asked_at earlier.
for each row when (old.enabled and not new.enabled or new.asked_at > old.asked_at)
execute function logloom_private.close_incidents_of_rule();

-- Before: who is told of it is in the rule.
create trigger alert_rules_close_incidents_on_delete
before delete on logloom.alert_rules
for each row execute function logloom_private.close_incidents_of_rule();
