-- Whether an alert rule of the tenant has this address, given in lower case, as its destination.
create function logloom_private.rule_names_address(p_tenant_id text, p_mailbox text)
returns boolean
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return exists (
    select
    from logloom.alert_rules r
    where r.tenant_id = p_tenant_id and 'email' = any(r.notification_destinations)
      and lower(r.notification_config ->> 'email') = p_mailbox
  );
end;
$$;
