-- Retention takes what a tenant has of a day that another one keeps.
-- set-up
insert into logloom_private.retention_place (today, spans_through, done_through, day, tenant_through)
values (
  interleavings.day('today'), null, interleavings.day('dropped'), interleavings.day('expired'), ''
)
on conflict do nothing;
insert into interleavings.goes (why, tenant_id, day, must)
values ('retention', 'acme', interleavings.day('expired'), true);
-- operation
begin;
select logloom_private.retention_step();
select interleavings.pause('commit');
commit;
-- afterwards
select interleavings.retain_all();
