-- Deletes audit events past their lifetime.
create function logloom_private.purge_audit_events()
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
  delete from logloom.audit_events e
  where e.event_id = any(array(
    select o.event_id
    from logloom.audit_events o
    where o.occurred_at < now() - v_settings.audit_lifetime
    limit v_settings.purge_step_rows
  ));
  get diagnostics v_rows = row_count;
  return case when v_rows >= v_settings.purge_step_rows then v_settings.deletion_pause end;
end;
$$;
