-- The partition of a sealed day is replaced.
-- set-up
select logloom_private.prepare_replacement(interleavings.day('sealed'));
-- operation
begin;
-- Takes the job's lock, so that nothing is sealed meanwhile.
select case
  when interleavings.try_to_hold(logloom_private.lock_key('deletion'))
    then logloom_private.replacement_step(now())
end;
select interleavings.pause('commit');
commit;
-- afterwards
