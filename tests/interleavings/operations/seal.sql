-- A step of sealing makes a block of the tenant's oldest rows of a day.
-- set-up
-- operation
begin;
select logloom_private.seal_step_at(now());
select interleavings.pause('commit');
commit;
-- afterwards
