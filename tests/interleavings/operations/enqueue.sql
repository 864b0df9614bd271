-- A request brings a record of today and a late record.
-- set-up
-- operation
begin;
select interleavings.send(
  'acme', '{today,sealed}',
  array['new ' || interleavings.side(), 'late secret ' || interleavings.side()]
);
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.write_all();
