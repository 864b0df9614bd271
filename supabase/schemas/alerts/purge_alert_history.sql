-- Deletes alerts past their lifetime from the history, acknowledged or not.
create function logloom_private.purge_alert_history()
returns interval
language plpgsql
volatile
set search_path = pg_catalog, pg_temp
as $$
declare
  v_settings logloom_private.settings;
  v_rows integer;
begin
  select s.* into v_settings from logloom_private.settings s;
  delete from logloom.alert_history h
  where h.alert_id = any(array(
    select o.alert_id
    from logloom.alert_history o
    where o.triggered_at < now() - v_settings.alert_history_lifetime
    limit v_settings.purge_step_rows
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;
