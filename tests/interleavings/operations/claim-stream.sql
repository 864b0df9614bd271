-- A log stream notices new records and is claimed, and its batch is read.
-- set-up
select interleavings.make_stream();
-- operation
begin;
select logloom_private.note_new_writes();
select interleavings.pause('commit');
commit;
begin;
select interleavings.claim_stream();
select interleavings.pause('commit');
commit;
begin;
select interleavings.read_stream();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.send_all();
