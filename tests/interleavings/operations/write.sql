-- The writer moves the closed slot, and finds that nothing is left.
-- set-up
select
  interleavings.send('acme', '{missing,sealed}', '{closed missing,closed late secret}'),
  interleavings.send('umbrella', '{dropped}', '{closed dropped}');
select logloom_private.flip_queue();
-- operation
begin;
select logloom_private.write_step();
select interleavings.pause('commit');
commit;
begin;
select logloom_private.write_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.write_all();
