-- Most jobs read the settings first, so they are locked first. Otherwise the migration would hold
-- locks that readers of the settings want next, and would wait for them.
do $$
begin
  lock table logloom_private.settings in access exclusive mode;
end;
$$;

-- finish_migration() does this from now on. Done here, unchanged functions need not be created
-- again.
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

-- A group of rules counts in parts from now on. The next round plans and fills the groups again.
delete from logloom_private.alert_groups where filter is not null;

-- Functions take these names.
drop procedure logloom_private.write_logs();
drop procedure logloom_private.evaluate_alerts();
drop procedure logloom_private.run_canary();
drop procedure logloom_private.run_job(text, regprocedure);

-- A parameter has another type.
drop function public.create_api_key(text, text, timestamptz, text[], uuid);

-- A stream has a source.
drop function public.create_log_stream(text, text, text, text, jsonb, jsonb, boolean, uuid);

-- A portal session has parts.
drop function public.create_log_portal_session(
  text, uuid, text, integer, text, text[], boolean
);
drop function logloom_private.issue_portal_session(
  text, uuid, text, integer, text, text[], boolean
);

-- A silence can recur.
drop function public.create_alert_silence(jsonb, text, text, text, text);
drop function logloom_private.make_alert_silence(text, jsonb, text, text, text);

-- Rules can have a baseline.
drop function public.create_alert_rule(
  text, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb, uuid
);
drop function public.update_alert_rule(
  uuid, text, text, text, double precision, text, integer, integer, boolean, text[], jsonb, uuid,
  boolean, integer, text, integer, jsonb
);
drop function public.preview_alert_rule(
  text, uuid, text, double precision, text, integer, integer, uuid, integer
);
drop function logloom_private.completed_preview(
  public.logloom_alert_preview, logloom_private.alert_window[], boolean, logloom.alert_rules
);
drop function logloom_private.preview_alerts(
  logloom_private.alert_window[], logloom.alert_rules, interval
);

-- Counts of blocks have one type.
drop function logloom_private.block_groups(
  logloom_private.blocks, varbit, text[], boolean, text, boolean, boolean
);
drop function logloom_private.read_groups(
  logloom_private.blocks, varbit, text[], boolean, text, boolean
);
drop function logloom_private.sealed_groups(
  text, timestamptz, timestamptz, jsonb, text[], text, boolean, boolean
);

alter type logloom_private.reading_scope rename attribute actor to kind;

-- Sessions of customers manage log streams, too.
drop function public.get_log_secret_scope(text);
