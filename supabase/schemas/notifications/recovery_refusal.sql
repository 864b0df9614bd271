-- Why the end of an incident is not to be sent; null where it may go: what was to tell of the
-- beginning may have failed since it was enqueued. Ends that were collected go where one of their
-- beginnings went.
create function logloom_private.recovery_refusal(
  p_notification logloom_private.notifications
)
returns text
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case
    when not exists (
      select
      from logloom.alert_incidents i
      where i.rule_id = p_notification.rule_id
        and (
          i.incident_id = p_notification.incident_id
          or p_notification.group_key = 'collected'
          and i.resolved_at >= p_notification.created_at
        )
        and logloom_private.is_told(i.rule_id, i.incident_id, p_notification.channel)
    ) then 'The beginning of the incident was not delivered'
  end;
end;
$$;
