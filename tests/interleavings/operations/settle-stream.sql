-- A batch of a log stream was delivered after its claim expired.
-- set-up
select interleavings.make_stream();
select interleavings.claim_stream();
select interleavings.read_stream();
update logloom.log_streams set claimed_until = now() - interval '1 second';
-- operation
begin;
select interleavings.settle_stream('');
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.send_all();
