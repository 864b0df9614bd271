-- The round that is finished but for what has to be read for itself. What arrived is staged again:
-- another session may have begun it.
create function logloom_private.continued_alert_round()
returns logloom_private.alert_rounds
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round logloom_private.alert_rounds;
begin
  select r.* into v_round
  from logloom_private.alert_rounds r, logloom_private.settings s
  where r.finished_at is not null and r.window_end > clock_timestamp() - s.alert_round_limit;
  if v_round.window_end is not null
    and (v_round.staged_by = pg_backend_pid() and to_regclass('pg_temp.alert_writes') is not null)
      is not true
    and exists (
      select from logloom_private.alert_groups g where g.write_seq < v_round.write_seq_to
    )
  then
    perform logloom_private.stage_alert_writes(v_round, '-infinity');
    update logloom_private.alert_rounds r set staged_by = pg_backend_pid() where r.singleton;
  end if;
  return v_round;
end;
$$;
