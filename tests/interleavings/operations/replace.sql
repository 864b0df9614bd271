-- The partition of a day that was sealed gives its space back.
-- set-up
select logloom_private.prepare_replacement(interleavings.day('sealed'));
-- operation
begin;
select logloom_private.replace_partition(interleavings.day('sealed'));
select interleavings.pause('commit');
commit;
-- afterwards
