-- Retention drops the partition of a day that nobody keeps.
-- set-up
insert into logloom_private.retention_place (today, spans_through, done_through)
values (interleavings.day('today'), null, interleavings.day('dropped') - 1)
on conflict (singleton) do update
set done_through = excluded.done_through, day = null, tenant_through = null;
insert into interleavings.goes (why, tenant_id, day, must)
values
  ('retention', 'acme', interleavings.day('dropped'), true),
  ('retention', 'umbrella', interleavings.day('dropped'), true),
  ('retention', 'acme', interleavings.day('expired'), true);
-- operation
begin;
select logloom_private.retention_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.retain_all();
