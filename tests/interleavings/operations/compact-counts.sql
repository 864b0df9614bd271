-- Counts are summed up.
-- set-up
-- operation
begin;
select logloom_private.compact_log_counts();
select interleavings.pause('commit');
commit;
-- afterwards
