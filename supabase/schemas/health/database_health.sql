-- Returns the check of the database: whether it accepts writes. The disk counts as full if a job
-- failed because of it. A paused job does not notice that there is space again.
create function logloom_private.database_health()
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_state constant text := case
    when logloom_private.is_read_only() then 'read_only'
    when exists (
      select from logloom_private.jobs j
      where j.failures > 0 and j.last_error like '53100:%' and not j.is_paused
    ) then 'full'
    else 'writable'
  end;
  v_mend constant text := 'see A read-only or full database in docs/guides/operations.md';
begin
  return logloom_private.health_grade(
    case v_state
      when 'read_only' then
        'The database is read-only: ingest refuses events and jobs pause until it accepts writes: '
          || v_mend
      when 'full' then 'The disk of the database is full: ' || v_mend
    end,
    null
  ) || jsonb_build_object('state', v_state);
end;
$$;
