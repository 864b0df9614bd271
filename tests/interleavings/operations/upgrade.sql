-- A migration changes logloom.logs.
-- set-up
-- operation
begin;
select logloom_private.hold_writers();
select interleavings.pause('settings');
lock table logloom_private.settings, logloom.plans in access exclusive mode;
select interleavings.pause('logs');
do $$
begin
  execute format(
    'alter table logloom.logs add constraint %I check (write_seq >= 0)',
    'logs_upgraded_' || interleavings.side()
  );
end;
$$;
select interleavings.pause('commit');
commit;
-- afterwards
