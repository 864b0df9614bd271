-- A migration that changes logloom.logs.
-- set-up
-- operation
begin;
select logloom_private.hold_writers();
select interleavings.pause('settings');
lock table logloom_private.settings, logloom.plans in access exclusive mode;
select interleavings.pause('logs');
alter table logloom.logs add constraint logs_upgraded check (write_seq >= 0);
select interleavings.pause('commit');
commit;
-- afterwards
