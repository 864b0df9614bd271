-- The writer closes the open slot of the queue.
-- set-up
select interleavings.send('acme', '{today,sealed}', '{queued,queued late}');
-- operation
begin;
select logloom_private.flip_queue();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.write_all();
