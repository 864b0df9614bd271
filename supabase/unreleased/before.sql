-- Most of what runs reads the settings first. Altered last, they would be waited for by a migration
-- that holds what their readers want next.
do $$
begin
  lock table logloom_private.settings in access exclusive mode;
end;
$$;

-- As finish_migration() does from here on: functions that have not changed need not be made anew.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid
    from pg_catalog.pg_proc p
    where p.pronamespace = 'logloom_private'::regnamespace and p.prosecdef
  loop
    execute format('alter function %s set standard_conforming_strings = on', v_function);
  end loop;
end;
$$;

-- Functions of these names take their place.
drop procedure logloom_private.write_logs();
drop procedure logloom_private.evaluate_alerts();
drop procedure logloom_private.run_canary();
drop procedure logloom_private.run_job(text, regprocedure);

alter type logloom_private.reading_scope rename attribute actor to kind;
