-- Counts are summed up.
begin;
select logloom_private.compact_log_counts();
select interleavings.pause('commit');
commit;
-- afterwards
