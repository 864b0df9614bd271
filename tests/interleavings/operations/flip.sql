-- A request is queued after others. The writer closes the open slot of the queue and moves its
-- batches.
-- set-up
select interleavings.send('acme', '{today,sealed}', '{queued,queued late}');
-- operation
begin;
select interleavings.send('acme', '{today}', array['later ' || interleavings.side()]);
commit;
begin;
select logloom_private.flip_queue();
select interleavings.pause('commit');
commit;
begin;
select logloom_private.write_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.write_all();
