-- The notifications of an alert, in the transaction that fires it.
create function logloom_private.enqueue_alert_notifications()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule logloom.alert_rules;
begin
  select r.* into v_rule from logloom.alert_rules r where r.rule_id = new.rule_id;
  -- An entry outlives its rule, and may be put back without it: then nobody is to hear of it.
  if found then
    perform logloom_private.enqueue_notifications(
      v_rule, 'alert', new, logloom_private.notification_body('alert.triggered', v_rule, new)
    );
  end if;
  return null;
end;
$$;

-- An entry that says that it was notified of is put back, not fired.
create trigger alert_history_enqueues_notifications
after insert on logloom.alert_history
for each row when (new.notification_sent_at is null and new.silence_id is null)
execute function logloom_private.enqueue_alert_notifications();
