-- A step of sealing: a block of the tenant's oldest rows of a day.
begin;
select logloom_private.seal_step_at(now());
select interleavings.pause('commit');
commit;
-- afterwards
