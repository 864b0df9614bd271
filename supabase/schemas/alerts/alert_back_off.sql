-- How long a rule rests that cost too much after so many times before.
create function logloom_private.alert_back_off(p_failures integer)
returns interval
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select least(s.alert_back_off * 2 ^ least(p_failures, 20), s.alert_back_off_max)
    from logloom_private.settings s
  );
end;
$$;
