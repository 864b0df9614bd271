-- Whoever makes or changes a rule with an address that is not confirmed has a code mailed to it.
create function logloom_private.request_confirmation_of_rule()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
-- definer because no API role writes to the outbox
begin
  if not logloom_private.address_is_confirmed(
    new.tenant_id, logloom_private.channel_address('email', new.notification_config, '{}')
  ) then
    perform logloom_private.request_confirmation(new, false);
  end if;
  return null;
end;
$$;

create trigger alert_rules_request_confirmation
after insert or update of enabled, notification_destinations, notification_config
on logloom.alert_rules
for each row when (new.enabled and 'email' = any(new.notification_destinations))
execute function logloom_private.request_confirmation_of_rule();
