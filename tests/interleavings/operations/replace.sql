-- The partition of a day that was sealed gives its space back.
-- set-up
select logloom_private.prepare_replacement(interleavings.day('sealed'));
-- operation
begin;
-- As the job does, which seals nothing then.
select case
  when interleavings.try_to_hold(logloom_private.lock_key('deletion'))
    then logloom_private.replacement_step(now())
end;
select interleavings.pause('commit');
commit;
-- afterwards
