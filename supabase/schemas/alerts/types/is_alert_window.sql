-- Whether a rule may look at so many minutes: up to a day.
create function logloom_private.is_alert_window(p_minutes integer)
returns boolean
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return p_minutes between 1 and 1440;
end;
$$;

grant execute on function logloom_private.is_alert_window(integer)
to authenticated, service_role;
