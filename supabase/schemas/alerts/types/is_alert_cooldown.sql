-- Whether a rule may be silent for so many minutes after an alert: up to a week.
create function logloom_private.is_alert_cooldown(p_minutes integer)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_minutes between 0 and 10080;
end;
$$;

grant execute on function logloom_private.is_alert_cooldown(integer)
to authenticated, service_role;
